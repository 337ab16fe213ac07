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
  return { User, Order, Note };
};
