# Creates, reads and changes; each of its writes is one shard's.

def rows
  puts "rows: #{User.count} users, #{Order.count} orders"
end

def insert
  (1..10).each do |i|
    User.transaction do
      User.create!(Data.user(i))
      Data.orders(i).each { |o| Order.create!(o) }
    end
  end
  (11..20).each do |i|
    user = User.new(Data.user(i))
    Data.orders(i).each { |o| user.orders.build(o) }
    user.save!
  end
end

def read
  puts "user: #{User.find(Data.user_id(5))}"
  puts "missing: #{User.find_by(id: 999) ? 'found' : 'none'}"
  puts "order: #{Order.find(Data.order_id(7, 2))}"
  User.where(id: [Data.user_id(14), Data.user_id(3), 999, Data.user_id(8)]).order(:id).each { |u| puts "one of several: #{u}" }
  4.times do |page|
    users = User.where(country: "FR").order(:name, :id).limit(3).offset(3 * page)
    puts "page #{page} of FR: #{users.map { |u| "#{u.id} #{u.name}" }.join('; ')}"
  end
  Order.order(created: :desc, id: :desc).limit(3).offset(1).each { |o| puts "new order: #{o}" }
  User.where("balance > ?", 100).where.not(country: "DE").order(balance: :desc).limit(3).each { |u| puts "rich: #{u}" }
  puts "like a: #{User.where('name LIKE ?', 'a%').order(:id).pluck(:name).join('; ')}"
  puts "statuses: #{Order.distinct.order(:status).pluck(:status).join(' ')}"
end

def aggregate
  puts "in PL: #{User.where(country: 'PL').count}"
  puts format("balances: %.2f to %.2f", User.minimum(:balance), User.maximum(:balance))
  figures = User.group(:country).order(:country).pluck(:country, Arel.sql("COUNT(id)"), Arel.sql("SUM(balance)"), Arel.sql("AVG(balance)"))
  figures.each { |c| puts format("country: %s %d %.2f %.4f", *c) }
end

def join
  Order.includes(:user).where(user_id: Data.user_id(4)).order(:id).each { |o| puts "order of one: #{o.user.name} #{o}" }
  Order.eager_load(:user).order("users.name", :id).each { |o| puts "order of all: #{o.user.name} #{o.id} #{o.status}" }
  Order.joins(:user).group("users.country").order("users.country").pluck("users.country", Arel.sql("COUNT(orders.id)"), Arel.sql("SUM(orders.amount)"))
    .each { |c| puts format("spent in: %s %d %.2f", *c) }
  User.left_joins(:orders).group(:id).select("users.*, SUM(orders.amount) AS spent").order("spent DESC", :id).limit(3)
    .each { |u| puts format("most spent: %s %.2f", u.name, u.spent) }
  User.where(country: "DE").preload(:orders).order(:id).each { |u| puts "loaded: #{u.name} #{u.orders.map(&:id).sort.join(' ')}" }
end

def change
  user = User.find(Data.user_id(6))
  user.with_lock { user.update!(balance: user.balance + 100, name: "Maria II") }
  User.update_counters(user.id, balance: 1)
  puts "changed: #{user.reload}"
end

def undo
  count = -> { User.where(id: Data.user_id(21)).count }
  User.transaction do
    User.create!(Data.user(21))
    puts "inside: #{count.call}"
    raise ActiveRecord::Rollback
  end
  puts "undone: #{count.call}"
end

def duplicate
  User.create!(Data.user(1))
rescue ActiveRecord::RecordNotUnique => e
  puts "duplicate: refused #{e.cause.error_number}"
end

def shop
  insert
  rows
  read
  aggregate
  join
  change
  undo
  duplicate
  rows
end
