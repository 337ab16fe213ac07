// Creates, reads and changes; each of its writes is one shard's.
'use strict';

const { Op, col, fn, literal, UniqueConstraintError } = require('sequelize');
const { money, userId, orderId, user, orders, say, userLine, orderLine } = require('./data');

async function rows({ User, Order }) {
  say(`rows: ${await User.count()} users, ${await Order.count()} orders`);
}

async function insert(db, { User, Order }) {
  for (let i = 1; i <= 10; i++) {
    await db.transaction(async (transaction) => {
      await User.create(user(i), { transaction });
      for (const o of orders(i)) await Order.create(o, { transaction });
    });
  }
  for (let i = 11; i <= 20; i++) {
    await db.transaction(async (transaction) => {
      const u = await User.build(user(i)).save({ transaction });
      await Order.bulkCreate(orders(i).map((o) => ({ ...o, user_id: u.id })), { transaction });
    });
  }
}

async function read({ User, Order }) {
  say('user:', userLine(await User.findByPk(userId(5))));
  say('missing:', (await User.findByPk(999)) === null ? 'none' : 'found');
  say('order:', orderLine(await Order.findByPk(orderId(7, 2))));
  for (const u of await User.findAll({ where: { id: [userId(14), userId(3), 999, userId(8)] }, order: ['id'] })) say('one of several:', userLine(u));
  for (let page = 0; page < 4; page++) {
    const users = await User.findAll({ where: { country: 'FR' }, order: ['name', 'id'], limit: 3, offset: 3 * page });
    say(`page ${page} of FR:`, users.map((u) => `${u.id} ${u.name}`).join('; '));
  }
  for (const o of await Order.findAll({ order: [['created', 'DESC'], ['id', 'DESC']], limit: 3, offset: 1 })) say('new order:', orderLine(o));
  const rich = { balance: { [Op.gt]: 100 }, country: { [Op.ne]: 'DE' } };
  for (const u of await User.findAll({ where: rich, order: [['balance', 'DESC']], limit: 3 })) say('rich:', userLine(u));
  say('like a:', (await User.findAll({ where: { name: { [Op.startsWith]: 'a' } }, order: ['id'] })).map((u) => u.name).join('; '));
  say('statuses:', ...(await Order.findAll({ attributes: [[fn('DISTINCT', col('status')), 'status']], order: ['status'] })).map((o) => o.status));
}

async function aggregate({ User }) {
  say('in PL:', await User.count({ where: { country: 'PL' } }));
  say(`balances: ${money(100 * await User.min('balance'))} to ${money(100 * await User.max('balance'))}`);
  const figures = ['country', [fn('COUNT', col('id')), 'n'], [fn('SUM', col('balance')), 'total'], [fn('AVG', col('balance')), 'mean']];
  for (const c of await User.findAll({ attributes: figures, group: ['country'], order: ['country'], raw: true })) {
    say('country:', c.country, c.n, money(100 * c.total), Number(c.mean).toFixed(4));
  }
}

async function join({ User, Order }) {
  for (const o of await Order.findAll({ include: User, where: { user_id: userId(4) }, order: ['id'] })) say('order of one:', o.user.name, orderLine(o));
  for (const o of await Order.findAll({ include: { model: User, required: true }, order: [[User, 'name'], 'id'] })) {
    say('order of all:', o.user.name, o.id, o.status);
  }
  const spent = await User.findAll({
    attributes: ['country', [fn('COUNT', col('orders.id')), 'n'], [fn('SUM', col('orders.amount')), 'spent']],
    include: { model: Order, attributes: [], required: true }, group: ['user.country'], order: ['country'], raw: true,
  });
  for (const c of spent) say('spent in:', c.country, c.n, money(100 * c.spent));
  // Without subQuery Sequelize would cut off before it joins.
  const most = await User.findAll({
    attributes: ['id', 'name', [fn('SUM', col('orders.amount')), 'spent']],
    include: { model: Order, attributes: [] }, group: ['user.id'], order: [[literal('spent'), 'DESC'], 'id'], limit: 3, subQuery: false, raw: true,
  });
  for (const u of most) say('most spent:', u.name, money(100 * u.spent));
  const loaded = await User.findAll({ where: { country: 'DE' }, include: { model: Order, separate: true, order: ['id'] }, order: ['id'] });
  for (const u of loaded) say('loaded:', u.name, ...u.orders.map((o) => o.id));
}

async function change(db, { User }) {
  await db.transaction(async (transaction) => {
    const u = await User.findByPk(userId(6), { transaction, lock: transaction.LOCK.UPDATE });
    await u.update({ balance: money(100 * u.balance + 10000), name: 'Maria II' }, { transaction });
  });
  const u = await User.findByPk(userId(6));
  await u.increment('balance', { by: 1 });
  say('changed:', userLine(await u.reload()));
}

async function undo(db, { User }) {
  const count = (transaction) => User.count({ where: { id: userId(21) }, transaction });
  const transaction = await db.transaction();
  await User.create(user(21), { transaction });
  say('inside:', await count(transaction));
  await transaction.rollback();
  say('undone:', await count());
}

async function duplicate({ User }) {
  try {
    await User.create(user(1));
  } catch (e) {
    if (!(e instanceof UniqueConstraintError)) throw e;
    say('duplicate: refused', e.original.errno);
  }
}

async function shop(db, models) {
  await insert(db, models);
  await rows(models);
  await read(models);
  await aggregate(models);
  await join(models);
  await change(db, models);
  await undo(db, models);
  await duplicate(models);
  await rows(models);
}

module.exports = { shop, rows };
