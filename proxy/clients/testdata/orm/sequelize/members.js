// Makes a table in which each e-mail address is there once.
'use strict';

const { UniqueConstraintError } = require('sequelize');
const { say } = require('./data');

const line = (m) => `${m.id} ${m.email} ${m.name} ${m.visits}`;

// refused tells by which error a change is refused.
async function refused(what, change) {
  try {
    await change();
  } catch (e) {
    if (!(e instanceof UniqueConstraintError)) throw e;
    say(what, 'refused', e.original.errno);
  }
}

module.exports = async function members(db, { Member }) {
  await Member.sync();
  const one = (where, transaction) => Member.findOne({ where, transaction });
  const made = [];
  for (const [email, name] of [['ana@example.com', 'Ana'], ['bob@example.com', 'Bob'], ['cem@example.com', 'Cem'], ['dan@example.com', 'Dan']]) {
    made.push(await Member.create({ email, name }));
  }
  say('made:', ...made.map((m) => m.id));
  say('by e-mail:', line(await one({ email: 'bob@example.com' })));
  say('in capitals:', line(await one({ email: 'BOB@example.com' })));
  say('missing:', (await one({ email: 'bob@example.org' })) ? 'found' : 'none');
  await refused('duplicate:', () => Member.create({ email: 'Ana@Example.com', name: 'Anna' }));
  await refused('several:', () => Member.bulkCreate([{ email: 'eve@example.com', name: 'Eve' }, { email: 'dan@example.com', name: 'Daniel' }]));
  say('members:', await Member.count());
  await made[1].update({ email: 'rob@example.com', name: 'Robert', visits: 1 });
  say('changed:', line(await one({ email: 'rob@example.com' })));
  await refused('taken:', () => made[1].update({ email: 'cem@example.com' }));
  say('before:', (await one({ email: 'bob@example.com' })) ? 'found' : 'none');
  await Member.create({ email: 'bob@example.com', name: 'Bobby' });
  const [again] = await Member.findOrCreate({ where: { email: 'bob@example.com' }, defaults: { name: 'Nobody' } });
  say('again:', again.email, again.name, again.visits);
  await Member.upsert({ email: 'rob@example.com', name: 'Rob', visits: 5 });
  const rows = [{ email: 'eve@example.com', name: 'Eve', visits: 1 }, { email: 'bob@example.com', name: 'Bobby', visits: 7 }];
  await Member.bulkCreate(rows, { updateOnDuplicate: ['name', 'visits'] });
  for (const m of await Member.findAll({ order: ['email'] })) say('upserted:', m.email, m.name, m.visits);
  say('named:', (await one({ name: 'Eve' })).email);
  const transaction = await db.transaction();
  const m = await one({ email: 'cem@example.com' }, transaction);
  await m.update({ email: 'zoe@example.com' }, { transaction });
  say('inside:', (await one({ email: 'zoe@example.com' }, transaction)).email);
  await transaction.rollback();
  say('undone:', (await one({ name: 'Cem' })).email);
  const [raised] = await Member.update({ visits: db.literal('visits + 1') }, { where: { email: ['ana@example.com', 'eve@example.com'] } });
  say('raised:', raised);
  say('deleted:', await Member.destroy({ where: { email: 'dan@example.com' } }));
  say(`left: ${await Member.count()}, ${await Member.sum('visits')}`);
};
