// Makes a table by Sequelize's own definition, and leaves the ids to it.
'use strict';

const { say } = require('./data');

const line = (n) => `${n.id} ${n.owner} ${n.title}`;

module.exports = async function ids(db, { Note }) {
  await Note.sync();
  const made = [];
  for (let i = 1; i <= 4; i++) made.push(await Note.create({ owner: i, title: `note ${i}` }));
  say('made:', ...made.map((n) => n.id));
  await Note.bulkCreate(['one', 'two', 'three'].map((title) => ({ owner: 5, title })));
  for (const n of await Note.findAll({ where: { owner: 5 }, order: ['id'] })) say('together:', line(n));
  for (const n of await Note.findAll({ order: [['id', 'DESC']], limit: 3, offset: 1 })) say('page:', line(n));
  const n = await Note.findByPk(made[1].id);
  n.title = 'changed';
  await n.save();
  say('changed:', line(await Note.findByPk(n.id)));
  await made[0].destroy();
  say('left:', await Note.count());
  say('next:', (await Note.create({ owner: 6, title: 'last' })).id);
};
