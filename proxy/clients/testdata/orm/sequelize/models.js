// The tables of the shop. Those of users and orders exist; the others Sequelize makes.
'use strict';

const { DataTypes } = require('sequelize');

module.exports = function models(db) {
  const User = db.define('user', {
    id: { type: DataTypes.BIGINT, primaryKey: true },
    name: { type: DataTypes.STRING(100), allowNull: false },
    email: { type: DataTypes.STRING(200), allowNull: false },
    country: { type: DataTypes.STRING(2), allowNull: false },
    balance: { type: DataTypes.DECIMAL(12, 2), allowNull: false },
    created: { type: 'DATETIME(6)', allowNull: false },
  }, { timestamps: false });
  const Order = db.define('order', {
    id: { type: DataTypes.BIGINT, primaryKey: true },
    user_id: { type: DataTypes.BIGINT, allowNull: false },
    status: { type: DataTypes.STRING(10), allowNull: false },
    amount: { type: DataTypes.DECIMAL(12, 2), allowNull: false },
    created: { type: 'DATETIME(6)', allowNull: false },
  }, { timestamps: false });
  User.hasMany(Order, { foreignKey: 'user_id', constraints: false });
  Order.belongsTo(User, { foreignKey: 'user_id', constraints: false });
  const Note = db.define('note', {
    owner: { type: DataTypes.BIGINT, allowNull: false },
    title: { type: DataTypes.STRING(100), allowNull: false },
  });
  const Member = db.define('member', {
    email: { type: DataTypes.STRING(200), allowNull: false, unique: true },
    name: { type: DataTypes.STRING(100), allowNull: false },
    visits: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 0 },
  }, { timestamps: false });
  const Basket = db.define('basket', { title: { type: DataTypes.STRING(100), allowNull: false } });
  const Item = db.define('item', { name: { type: DataTypes.STRING(100), allowNull: false } });
  // Without these words the server would delete the items of a basket, or leave them without one.
  const reference = { foreignKey: { allowNull: false }, onDelete: 'RESTRICT' };
  Basket.hasMany(Item, reference);
  Item.belongsTo(Basket, reference);
  return { User, Order, Note, Member, Basket, Item };
};
