// A shop written with Sequelize.
//
// usage: main.js DIALECT HOST PORT DATABASE    with DIALECT mysql, by mysql2, or mariadb
'use strict';

const { Sequelize } = require('sequelize');
const { say } = require('./data');

const [dialect, host, port, database] = process.argv.slice(2);
const db = new Sequelize(database, 'root', 'root', {
  dialect, host, port: Number(port), logging: process.env.SHOP_LOG ? console.error : false, define: { underscored: true },
  // A Date would lose digits.
  dialectOptions: { typeCast: (field, next) => (field.type === 'DATETIME' ? field.string() : next()) },
});
const models = require('./models')(db);

const steps = { introspect: require('./introspection'), shop: require('./shop').shop, many: require('./many'), ids: require('./ids'), related: require('./related'), members: require('./members') };

(async () => {
  for (const [name, step] of Object.entries(steps)) {
    say('==', name);
    try {
      await step(db, models);
    } catch (e) {
      process.exitCode = 1;
      say('failed:', e.message);
      console.error(e);
    }
  }
  await db.close();
})();
