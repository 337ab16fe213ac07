class CreateBaskets < ActiveRecord::Migration[6.1]
  def change
    create_table :baskets do |t|
      t.string :title, limit: 100, null: false
      t.timestamps
    end
    create_table :items do |t|
      t.references :basket, null: false, foreign_key: true
      t.string :name, limit: 100, null: false
      t.timestamps
    end
  end
end
