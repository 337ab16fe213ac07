# Runs the migrations up to one, as rake does.
def migrate(version)
  ENV["VERSION"] = version
  ActiveRecord::Tasks::DatabaseTasks.migrate
end

# Makes a table by a migration, and leaves the ids to it.
def ids
  migrate("20240101000000")
  made = (1..4).map { |i| Note.create!(owner: i, title: "note #{i}") }
  puts "made: #{made.map(&:id).join(' ')}"
  now = Time.now
  Note.insert_all!(%w[one two three].map { |title| { owner: 5, title: title, created_at: now, updated_at: now } })
  Note.where(owner: 5).order(:id).each { |n| puts "together: #{n}" }
  Note.order(id: :desc).limit(3).offset(1).each { |n| puts "page: #{n}" }
  # A record is saved and destroyed in a transaction by its id alone.
  Note.where(id: made[1].id, owner: 2).update_all(title: "changed")
  puts "changed: #{Note.find(made[1].id)}"
  Note.delete_by(id: made[0].id, owner: 1)
  puts "left: #{Note.count}"
  puts "next: #{Note.create!(owner: 6, title: 'last').id}"
end
