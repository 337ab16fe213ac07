# Makes a table in which each e-mail address is there once.
def members
  migrate("20240103000000")
  all = { "ana@example.com" => "Ana", "bob@example.com" => "Bob", "cem@example.com" => "Cem", "dan@example.com" => "Dan" }
  made = all.map { |email, name| Member.create!(email: email, name: name) }
  puts "made: #{made.map(&:id).join(' ')}"
  puts "by e-mail: #{Member.find_by(email: 'bob@example.com')}"
  puts "in capitals: #{Member.find_by!(email: 'BOB@example.com')}"
  puts "missing: #{Member.exists?(email: 'bob@example.org') ? 'found' : 'none'}"
  refused("duplicate:") { Member.create!(email: "Ana@Example.com", name: "Anna") }
  refused("several:") { Member.insert_all!([{ email: "eve@example.com", name: "Eve" }, { email: "dan@example.com", name: "Daniel" }]) }
  puts "members: #{Member.count}"
  made[1].update!(email: "rob@example.com", name: "Robert", visits: 1)
  puts "changed: #{Member.find_by(email: 'rob@example.com')}"
  refused("taken:") { made[1].update!(email: "cem@example.com") }
  puts "before: #{Member.find_by(email: 'bob@example.com') || 'none'}"
  Member.create_or_find_by!(email: "bob@example.com") { |m| m.name = "Bobby" }
  m = Member.create_or_find_by!(email: "bob@example.com") { |other| other.name = "Nobody" }
  puts "again: #{m.email} #{m.name} #{m.visits}"
  Member.upsert_all([["rob@example.com", "Rob", 5], ["eve@example.com", "Eve", 1], ["bob@example.com", "Bobby", 7]].map { |row| %i[email name visits].zip(row).to_h })
  Member.order(:email).each { |one| puts "upserted: #{one.email} #{one.name} #{one.visits}" }
  puts "named: #{Member.find_by(name: 'Eve').email}"
  Member.transaction do
    Member.find_by(email: "cem@example.com").update!(email: "zoe@example.com")
    puts "inside: #{Member.find_by(email: 'zoe@example.com').email}"
    raise ActiveRecord::Rollback
  end
  puts "undone: #{Member.find_by(name: 'Cem').email}"
  puts "raised: #{Member.where(email: %w[ana@example.com eve@example.com]).update_all('visits = visits + 1')}"
  puts "deleted: #{Member.where(email: 'dan@example.com').delete_all}"
  puts "left: #{Member.count}, #{Member.sum(:visits)}"
end
