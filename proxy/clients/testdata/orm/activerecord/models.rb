# The tables of the shop. Those of users and orders exist; the others come by migrations.

class User < ActiveRecord::Base
  has_many :orders

  def to_s
    format("%d %s %s %s %.2f %s", id, name, email, country, balance, time_text(created))
  end
end

class Order < ActiveRecord::Base
  belongs_to :user

  def to_s
    format("%d %d %s %.2f %s", id, user_id, status, amount, time_text(created))
  end
end

class Basket < ActiveRecord::Base
  has_many :items, -> { order(:id) }
end

class Item < ActiveRecord::Base
  belongs_to :basket
end

class Member < ActiveRecord::Base
  def to_s
    "#{id} #{email} #{name} #{visits}"
  end
end

class Note < ActiveRecord::Base
  def to_s
    "#{id} #{owner} #{title}"
  end
end
