<?php
// A Corvo worker in PHP 8 without extensions. PHP has no threads: call heartbeat() between the steps
// of a job that takes longer than a third of its lease.
//
//   CORVO_URL=http://localhost:8080 php worker.php emails [--once]
declare(strict_types=1);

function call(string $path, array $body): ?array
{
    $headers = ['Content-Type: application/json'];
    if (getenv('CORVO_API_KEY') !== false) {
        $headers[] = 'X-API-Key: ' . getenv('CORVO_API_KEY');
    }
    $context = stream_context_create(['http' => [
        'method' => 'POST',
        'header' => $headers,
        'content' => json_encode($body, JSON_THROW_ON_ERROR),
        'timeout' => 45,
        'ignore_errors' => true,
    ]]);
    $url = (getenv('CORVO_URL') ?: 'http://localhost:8080') . '/api/v1' . $path;
    $text = @file_get_contents($url, false, $context);
    if ($text === false) {
        throw new RuntimeException("$path: the server does not answer");
    }
    $status = (int) explode(' ', $http_response_header[0])[1];
    if ($status >= 300) {
        throw new RuntimeException("$path: $status $text");
    }
    return $text === '' ? null : json_decode($text, true, 512, JSON_THROW_ON_ERROR);
}

/** Renews the lease. Returns false if the job was cancelled: stop working on it. */
function heartbeat(array $job): bool
{
    $answer = call('/heartbeat', ['jobs' => [$job['job_id'] => new stdClass()]]);
    return ($answer['jobs'][$job['job_id']]['status'] ?? '') !== 'cancel';
}

/** Your code. Throw to fail the attempt; return a value to store it as the result. */
function handle(array $job): array
{
    return ['greeted' => $job['payload']['to'] ?? 'nobody'];
}

function work(array $job): void
{
    $token = ['lease_token' => $job['lease_token']];
    try {
        $result = handle($job);
    } catch (Throwable $error) {
        $report = ['error' => $error->getMessage(), 'backtrace' => $error->getTraceAsString()];
        call("/fail/{$job['job_id']}", $report + $token);
        return;
    }
    call("/ack/{$job['job_id']}", ['result' => $result] + $token);
}

$queue = $argv[1];
$want = ['queues' => [$queue], 'worker_id' => gethostname() . '-' . getmypid(), 'hostname' => gethostname(), 'timeout' => 30];
while (true) {
    try {
        $job = call('/fetch', $want);
        if (isset($job['job_id']) && $job['job_id'] !== '') {
            work($job);
            if (($argv[2] ?? '') === '--once') {
                break;
            }
        }
    } catch (RuntimeException $error) {
        fwrite(STDERR, "trying again: {$error->getMessage()}\n");
        sleep(1);
    }
}
