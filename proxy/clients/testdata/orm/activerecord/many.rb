# Writes to several shards at once.

# Changes one order and deletes another, each by its own id, which is not the key of the shards.
def change_order
  order = Order.find(Data.order_id(9, 1))
  order.update!(status: "returned")
  puts "changed: #{order.reload}"
  Order.find(Data.order_id(10, 3)).destroy!
end

# Moves 10 from one user to another.
def transfer(i, j)
  { i => -10, j => 10 }.each do |k, amount|
    user = User.lock.find(Data.user_id(k))
    user.update!(balance: user.balance + amount)
  end
end

def pair(what)
  User.where(id: [Data.user_id(11), Data.user_id(13)]).order(:id).each { |u| puts "#{what} #{u}" }
end

def many
  User.transaction do
    user = User.find(Data.user_id(4))
    user.orders.delete_all(:delete_all)
    user.destroy!
  end
  rows
  User.transaction do
    User.insert_all!((21..26).map { |i| Data.user(i) })
    Order.insert_all!((21..26).flat_map { |i| Data.orders(i) })
  end
  rows
  raised = User.where(country: "DE").update_all("balance = balance + 5")
  puts format("raised: %d, %.2f", raised, User.where(country: "DE").sum(:balance))
  change_order
  rows
  puts "new ones deleted: #{Order.where(status: 'new').delete_all}"
  rows
  User.transaction { transfer(11, 13) }
  pair "transferred:"
  User.transaction do
    transfer(11, 13)
    raise ActiveRecord::Rollback
  end
  pair "not again:"
  puts format("in all: %.2f", User.sum(:balance))
end
