# A Corvo worker in Ruby, standard library only.
#
#   CORVO_URL=http://localhost:8080 ruby worker.rb emails [--once]
require "json"
require "net/http"
require "socket"
require "uri"

BASE = "#{ENV.fetch('CORVO_URL', 'http://localhost:8080')}/api/v1"
WORKER = "#{Socket.gethostname}-#{Process.pid}"
$stopping = false
trap("TERM") { $stopping = true }

def call(path, body)
  uri = URI(BASE + path)
  headers = { "Content-Type" => "application/json" }
  headers["X-API-Key"] = ENV["CORVO_API_KEY"] if ENV["CORVO_API_KEY"]
  options = { use_ssl: uri.scheme == "https", read_timeout: 45 }
  answer = Net::HTTP.start(uri.host, uri.port, **options) { |http| http.post(uri.path, JSON.generate(body), headers) }
  raise "#{path}: #{answer.code} #{answer.body}" unless answer.is_a?(Net::HTTPSuccess)

  answer.body.to_s.empty? ? nil : JSON.parse(answer.body)
end

# Your code. Raise to fail the attempt; return a value to store it as the result.
def handle(job)
  { greeted: job["payload"].fetch("to", "nobody") }
end

# Renew the lease until the job is done. The thread's :cancelled is true if the job was cancelled.
def heartbeats(job)
  Thread.new do
    loop do
      sleep job["lease_duration"] / 3.0
      answer = call("/heartbeat", jobs: { job["job_id"] => {} })
      Thread.current[:cancelled] = answer.dig("jobs", job["job_id"], "status") == "cancel"
    rescue StandardError => e
      warn "heartbeat: #{e.message}"
    end
  end
end

def work(job)
  beat = heartbeats(job)
  begin
    outcome = ["/ack/", { result: handle(job) }]
  rescue StandardError => e
    outcome = ["/fail/", { error: "#{e.class}: #{e.message}", backtrace: e.backtrace&.join("\n") }]
  ensure
    beat.kill
    beat.join
  end
  path, body = outcome
  call(path + job["job_id"], **body, lease_token: job["lease_token"]) unless beat[:cancelled]
end

queue, flag = ARGV
until $stopping
  begin
    job = call("/fetch", queues: [queue], worker_id: WORKER, hostname: Socket.gethostname, timeout: 30)
    next unless job && job["job_id"]

    work(job)
    break if flag == "--once"
  rescue StandardError => e
    warn "trying again: #{e.message}"
    sleep 1
  end
end
