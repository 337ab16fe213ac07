class CreateNotes < ActiveRecord::Migration[6.1]
  def change
    create_table :notes do |t|
      t.bigint :owner, null: false
      t.string :title, limit: 100, null: false
      t.timestamps
    end
  end
end
