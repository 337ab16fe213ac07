// What Sequelize finds in the schema.
'use strict';

const { say } = require('./data');

module.exports = async function introspect(db) {
  await db.authenticate();
  const schema = db.getQueryInterface();
  say(db.getDialect(), await schema.databaseVersion());
  say('tables', JSON.stringify((await schema.showAllTables()).map((t) => t.tableName || t).sort()));
  say('has', await schema.tableExists('users'), await schema.tableExists('nothing'));
  for (const table of ['users', 'orders']) {
    say(table);
    for (const [name, about] of Object.entries(await schema.describeTable(table))) say('  column', name, JSON.stringify(about));
    for (const index of await schema.showIndex(table)) say('  index', JSON.stringify(index));
    say('  references', JSON.stringify(await schema.getForeignKeyReferencesForTable(table)));
  }
  try {
    await schema.describeTable('nothing');
  } catch (e) {
    say('refused:', e.message);
  }
};
