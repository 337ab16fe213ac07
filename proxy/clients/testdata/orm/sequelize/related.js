'use strict';

const { ForeignKeyConstraintError } = require('sequelize');
const { say } = require('./data');

// refused tells by which error a change is refused.
async function refused(what, change) {
  try {
    await change();
  } catch (e) {
    if (!(e instanceof ForeignKeyConstraintError)) throw e;
    say(what, 'refused', e.original.errno);
  }
}

// related makes tables of which one refers to the other.
module.exports = async function related(db, { Basket, Item }) {
  await Basket.sync();
  await Item.sync();
  const made = [];
  for (let i = 1; i <= 4; i++) {
    const basket = { title: `basket ${i}`, items: [{ name: 'apple' }, { name: 'pear' }] };
    await db.transaction(async (transaction) => made.push(await Basket.create(basket, { include: Item, transaction })));
  }
  say('baskets:', ...made.map((b) => b.id));
  for (const b of await Basket.findAll({ include: Item, order: ['id', [Item, 'id']] })) {
    say(`loaded: ${b.title}:`, b.items.map((i) => `${i.id} ${i.name}`).join(', '));
  }
  const i = await Item.findByPk(6);
  say(`item: ${i.name} of ${(await i.getBasket()).title}`);
  const pears = await Item.findAll({ include: { model: Basket, required: true }, where: { name: 'pear' }, order: [[Basket, 'title', 'DESC']], limit: 3 });
  say('pears:', pears.map((p) => p.basket.title).join('; '));
  await refused('orphan:', () => Item.create({ basketId: 99, name: 'plum' }));
  await refused('parent:', () => Basket.destroy({ where: { id: 1 } }));
  await db.transaction(async (transaction) => {
    await Item.destroy({ where: { basketId: 2 }, transaction });
    await made[1].destroy({ transaction });
  });
  say(`left: ${await Basket.count()} baskets, ${await Item.count()} items`);
};
