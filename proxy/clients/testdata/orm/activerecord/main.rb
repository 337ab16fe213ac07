# A shop written with ActiveRecord.
#
# usage: main.rb HOST PORT DATABASE
require "active_record"
require "logger"
%w[data models introspection shop many ids related members].each { |file| require_relative file }

ENV["VERBOSE"] = "false" # of migrations
$stdout.sync = true
ActiveRecord::Base.logger = Logger.new($stderr) if ENV["SHOP_LOG"].to_s != ""
ActiveRecord::Base.establish_connection(
  adapter: "mysql2", encoding: "utf8mb4", host: ARGV[0], port: ARGV[1].to_i, database: ARGV[2], username: "root", password: "root",
  migrations_paths: File.join(__dir__, "migrate")
)

failed = false
%i[introspect shop many ids related members].each do |step|
  puts "== #{step}"
  begin
    send(step)
  rescue StandardError => e
    failed = true
    puts "failed: #{e.message}"
    warn e.full_message
  end
end
exit(failed ? 1 : 0)
