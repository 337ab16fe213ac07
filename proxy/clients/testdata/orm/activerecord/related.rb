# Tells by which error a change is refused.
def refused(what)
  yield
rescue ActiveRecord::InvalidForeignKey, ActiveRecord::RecordNotUnique => e
  puts "#{what} refused #{e.cause.error_number}"
end

# Makes tables of which one refers to the other.
def related
  migrate("20240102000000")
  made = (1..4).map { |i| Basket.create!(title: "basket #{i}", items: %w[apple pear].map { |name| Item.new(name: name) }) }
  puts "baskets: #{made.map(&:id).join(' ')}"
  Basket.preload(:items).order(:id).each { |b| puts "loaded: #{b.title}: #{b.items.map { |i| "#{i.id} #{i.name}" }.join(', ')}" }
  item = Item.find(6)
  puts "item: #{item.name} of #{item.basket.title}"
  puts "pears: #{Item.eager_load(:basket).where(name: 'pear').order('baskets.title DESC').limit(3).map { |i| i.basket.title }.join('; ')}"
  refused("orphan:") { Item.new(basket_id: 99, name: "plum").save!(validate: false) }
  refused("parent:") { Basket.find(1).delete }
  Basket.transaction do
    Item.where(basket: made[1]).delete_all
    made[1].destroy!
  end
  puts "left: #{Basket.count} baskets, #{Item.count} items"
end
