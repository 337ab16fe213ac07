# What ActiveRecord finds in the schema.
def introspect
  c = ActiveRecord::Base.connection
  puts "#{c.adapter_name} #{c.database_version} mariadb #{c.mariadb?} #{c.current_database} #{c.charset} #{c.collation}"
  puts "tables #{c.tables.sort} views #{c.views}"
  puts "has #{c.table_exists?(:users)} #{c.table_exists?(:nothing)} #{c.column_exists?(:users, :name)} #{c.index_exists?(:orders, :user_id)}"
  [User, Order].each do |model|
    puts "#{model.table_name} #{model.primary_key} #{c.table_options(model.table_name)} #{c.table_comment(model.table_name)}"
    model.columns.each { |column| puts "  column #{column.name} #{column.sql_type} #{column.null} #{column.default.inspect} #{column.collation}" }
    c.indexes(model.table_name).each { |i| puts "  index #{i.name} #{i.columns} #{i.unique} #{i.using}" }
    puts "  others #{c.foreign_keys(model.table_name)} #{c.check_constraints(model.table_name)}"
  end
  ActiveRecord::SchemaDumper.dump(c, $stdout)
end
