// Writes to several shards at once.
'use strict';

const { literal } = require('sequelize');
const { money, userId, orderId, user, orders, say, userLine, orderLine } = require('./data');
const { rows } = require('./shop');

const range = [21, 22, 23, 24, 25, 26];

// changeOrder changes one order and deletes another, each by its own id, which is not the key of the shards.
async function changeOrder({ Order }) {
  const o = await Order.findByPk(orderId(9, 1));
  await o.update({ status: 'returned' });
  say('changed:', orderLine(await o.reload()));
  await (await Order.findByPk(orderId(10, 3))).destroy();
}

// transfer moves 10 from one user to another.
async function transfer({ User }, transaction) {
  for (const [i, cents] of [[11, -1000], [13, 1000]]) {
    const u = await User.findByPk(userId(i), { transaction, lock: transaction.LOCK.UPDATE });
    await u.update({ balance: money(100 * u.balance + cents) }, { transaction });
  }
}

async function pair(what, { User }) {
  for (const u of await User.findAll({ where: { id: [userId(11), userId(13)] }, order: ['id'] })) say(what, userLine(u));
}

module.exports = async function many(db, models) {
  const { User, Order } = models;
  await db.transaction(async (transaction) => {
    const u = await User.findByPk(userId(4), { transaction });
    await Order.destroy({ where: { user_id: u.id }, transaction });
    await u.destroy({ transaction });
  });
  await rows(models);
  await db.transaction(async (transaction) => {
    await User.bulkCreate(range.map(user), { transaction });
    await Order.bulkCreate(range.flatMap(orders), { transaction });
  });
  await rows(models);
  const [raised] = await User.update({ balance: literal('balance + 5') }, { where: { country: 'DE' } });
  say(`raised: ${raised}, ${money(100 * await User.sum('balance', { where: { country: 'DE' } }))}`);
  await changeOrder(models);
  await rows(models);
  say('new ones deleted:', await Order.destroy({ where: { status: 'new' } }));
  await rows(models);
  await db.transaction((transaction) => transfer(models, transaction));
  await pair('transferred:', models);
  const undone = await db.transaction();
  await transfer(models, undone);
  await undone.rollback();
  await pair('not again:', models);
  say('in all:', money(100 * await User.sum('balance')));
};
