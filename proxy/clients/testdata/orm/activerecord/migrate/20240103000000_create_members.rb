class CreateMembers < ActiveRecord::Migration[6.1]
  def change
    create_table :members do |t|
      t.string :email, limit: 200, null: false, index: { unique: true }
      t.string :name, limit: 100, null: false
      t.integer :visits, null: false, default: 0
    end
  end
end
