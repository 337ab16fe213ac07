// What the shop holds, and how its rows are written down.
'use strict';

const names = [
  'Ana', 'Łukasz', 'Zoë', "O'Brien", 'Ömer', 'maria', 'Maria', 'Élodie', 'Bob', 'Çağla', 'Straße', 'Strasse', 'İpek', 'Jürgen', '安娜', 'ana',
  'Ωmega', 'Ivan', 'zoe', 'Back\\slash', 'Tim 😀', '%percent', 'Per_cent', 'Nora', 'Olaf', 'Quentin',
];
const countries = ['DE', 'FR', 'PL'];
const statuses = ['new', 'paid', 'sent'];

const money = (cents) => (cents / 100).toFixed(2);
const userId = (i) => 1000 + 7 * i;
const orderId = (i, k) => 10 * userId(i) + k;

// created gives when user i came, and some hours later when an order did: more digits than a Date has.
function created(i, hours = 0) {
  const second = new Date(Date.UTC(2024, 0, 1 + i, hours)).toISOString().slice(0, 19).replace('T', ' ');
  return `${second}.${String(1001 * i).padStart(6, '0')}`;
}

// user gives the columns of user i, from 1 to 26.
function user(i) {
  return { id: userId(i), name: names[i - 1], email: `u${i}@example.com`, country: countries[i % 3], balance: money(1025 * i), created: created(i) };
}

// orders gives the columns of user i's three orders.
function orders(i) {
  return [1, 2, 3].map((k) => (
    { id: orderId(i, k), user_id: userId(i), status: statuses[(i + k) % 3], amount: money(110 * i * k + k), created: created(i, k) }));
}

const say = (...what) => console.log(what.join(' '));
const userLine = (u) => `${u.id} ${u.name} ${u.email} ${u.country} ${money(100 * u.balance)} ${u.created}`;
const orderLine = (o) => `${o.id} ${o.user_id} ${o.status} ${money(100 * o.amount)} ${o.created}`;

module.exports = { money, userId, orderId, user, orders, say, userLine, orderLine };
