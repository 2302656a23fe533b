// Written by "npm run types:generate" from /openapi.json: not to be edited.

export interface paths {
    "/api/v1/ack/{job_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of a job. */
                    job_id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["PostAckByJobIdRequest"];
                };
            };
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Status"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/ack/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PostAckBatchRequest"];
                };
            };
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Acked"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/admin/accept-clock": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ClockAccepted"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/admin/backup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    /** @description Namespace to back up; the caller's unless said. */
                    namespace?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Backup"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/admin/rebuild-sqlite": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Rebuilt"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/admin/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: {
                    /** @description enqueue makes new pending jobs; keep brings them back as they were, where the backup's format can. Any other value counts as absent. */
                    mode?: "keep" | "enqueue";
                    /** @description Leave out this many jobs, counted from the first one of the backup: to go on with a restore that was interrupted. */
                    skip?: number;
                    /** @description false restores a backup whose checksum is wrong. */
                    verify?: boolean;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PostAdminRestoreRequest"];
                };
            };
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Restored"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/approval-policies": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    /** @description Value of X-Corvo-Next-Cursor in the previous answer. */
                    cursor?: string;
                    /** @description Rows in the answer, at most 1000, which is also the default. A larger number counts as the largest. */
                    limit?: number;
                    /** @description Only rows whose name (or id, where there is no name) begins with this. */
                    prefix?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Policy"][];
                    };
                };
            };
        };
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PostApprovalPoliciesRequest"];
                };
            };
            responses: {
                /** @description policy */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Policy"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/approval-policies/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of an approval policy. */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Status"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["PostEnqueueRequestBatch"];
                };
            };
            responses: {
                /** @description Created */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["BatchOpened"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/batch/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of a batch. */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description batch */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Batch"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/batch/{id}/seal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of a batch. */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description sealed */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Sealed"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/billing/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    /** @description How far back from now, as a duration such as 90m or 7d. */
                    period?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Billing"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/bulk/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of a bulk operation. */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["BulkOperation"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of a bulk operation. */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Status"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/bulk/{id}/progress": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of a bulk operation. */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/event-stream": string;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/cluster/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    /** @description Events behind this one. */
                    after_seq?: number;
                    /** @description Events in an answer. A larger number counts as the largest. */
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Events"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/cluster/join": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PostClusterJoinRequest"];
                };
            };
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Joined"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/cluster/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description cluster status */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ClusterStatus"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/dead": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    /** @description Created after. */
                    created_after?: string;
                    /** @description Created before. */
                    created_before?: string;
                    /** @description From the answer before. */
                    cursor?: string;
                    /** @description A part of any error, without case. */
                    error_contains?: string;
                    /** @description Jobs in an answer, 50 unless said, at most 1000. */
                    limit?: number;
                    /** @description asc or desc. */
                    order?: string;
                    /** @description A part of the payload's JSON, without case. */
                    payload_contains?: string;
                    /** @description A question about the payload, such as .user.id == 7. */
                    payload_jq?: string;
                    /** @description Name of the queue. */
                    queue?: string;
                    /** @description created_at, priority, started_at, completed_at, attempt, scheduled_at or failed_at. */
                    sort?: string;
                    /** @description A tag that must be there, as key:value. */
                    tag?: string[];
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SearchAnswer"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/debug/runtime": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description runtime */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Runtime"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/enqueue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PostEnqueueRequest"];
                };
            };
            responses: {
                /** @description enqueued */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Enqueued"];
                    };
                };
                /** @description enqueued | {job_ids, batch_id} */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Enqueued"] | components["schemas"]["EnqueuedBatch"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/enqueue/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PostEnqueueBatchRequest"];
                };
            };
            responses: {
                /** @description Created */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["EnqueuedBatch"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    /** @description Frames per event: with its name, as a message, or both. named unless said; both for a browser's EventSource. */
                    format?: "named" | "message" | "both";
                    /** @description Only events of these jobs. */
                    job_ids?: string[];
                    /** @description Events behind this one; the larger of it and the header Last-Event-ID counts. Any other value counts as absent. */
                    last_event_id?: number;
                    /** @description Only events of these queues. */
                    queues?: string[];
                    /** @description Without a position: begin so many events before the end; 0: only new ones. */
                    tail?: number;
                    /** @description Only events of these types: completed or job.completed, job.*, *. */
                    types?: string[];
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/event-stream": string;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/fail/{job_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of a job. */
                    job_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PostFailByJobIdRequest"];
                };
            };
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Failed"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/fetch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PostFetchRequest"];
                };
            };
            responses: {
                /** @description fetched job */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["FetchedJob"];
                    };
                };
                /** @description when there is none */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/fetch/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PostFetchBatchRequest"];
                };
            };
            responses: {
                /** @description fetched jobs */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["FetchedJobs"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/heartbeat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PostHeartbeatRequest"];
                };
            };
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Beats"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/info": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Info"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of a job. */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description job */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Job"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of a job. */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Status"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{id}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of a job. */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Status"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of a job. */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Status"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{id}/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of a job. */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["JobExplanation"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{id}/hold": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of a job. */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["PostJobsByIdHoldRequest"];
                };
            };
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Status"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{id}/iterations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of a job. */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Iterations"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{id}/move": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of a job. */
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PostJobsByIdMoveRequest"];
                };
            };
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Status"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{id}/reject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of a job. */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["PostJobsByIdHoldRequest"];
                };
            };
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Status"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: {
                    /** @description Iteration to begin from, unless the body says it. Any other value counts as absent. */
                    from?: number;
                };
                header?: never;
                path: {
                    /** @description Id of a job. */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["PostJobsByIdReplayRequest"];
                };
            };
            responses: {
                /** @description enqueued */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Enqueued"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of a job. */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Status"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/bulk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PostJobsBulkRequest"];
                };
            };
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["BulkDone"];
                    };
                };
                /** @description Accepted */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["BulkStarted"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/bulk-get": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PostJobsBulkGetRequest"];
                };
            };
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Jobs"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["PostJobsSearchRequest"];
                };
            };
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SearchAnswer"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/plain": string;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/metrics/throughput": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Minute"][];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/queues": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    /** @description Value of X-Corvo-Next-Cursor in the previous answer. */
                    cursor?: string;
                    /** @description Rows in the answer, at most 1000, which is also the default. A larger number counts as the largest. */
                    limit?: number;
                    /** @description Only rows whose name (or id, where there is no name) begins with this. */
                    prefix?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Queue"][];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/queues/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Name of a queue, percent-encoded where it has a '/'. */
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description queue */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Queue"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete: {
            parameters: {
                query?: {
                    /** @description Answer 202 at once and go on in the background. The header Prefer: respond-async does the same. */
                    async?: boolean;
                    /** @description Accepted for compatibility; has no effect. */
                    confirm?: boolean;
                };
                header?: never;
                path: {
                    /** @description Name of a queue, percent-encoded where it has a '/'. */
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Status"];
                    };
                };
                /** @description Accepted */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["BulkStarted"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/queues/{name}/clear": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: {
                    /** @description Answer 202 at once and go on in the background. The header Prefer: respond-async does the same. */
                    async?: boolean;
                };
                header?: never;
                path: {
                    /** @description Name of a queue, percent-encoded where it has a '/'. */
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Status"];
                    };
                };
                /** @description Accepted */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["BulkStarted"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/queues/{name}/concurrency": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Name of a queue, percent-encoded where it has a '/'. */
                    name: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PostQueuesByNameConcurrencyRequest"];
                };
            };
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Status"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/queues/{name}/drain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Name of a queue, percent-encoded where it has a '/'. */
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Status"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/queues/{name}/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Name of a queue, percent-encoded where it has a '/'. */
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["QueueExplanation"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/queues/{name}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Name of a queue, percent-encoded where it has a '/'. */
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Status"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/queues/{name}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Name of a queue, percent-encoded where it has a '/'. */
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Status"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/queues/{name}/throttle": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Name of a queue, percent-encoded where it has a '/'. */
                    name: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PostQueuesByNameThrottleRequest"];
                };
            };
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Status"];
                    };
                };
            };
        };
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Name of a queue, percent-encoded where it has a '/'. */
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Status"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    /** @description Value of X-Corvo-Next-Cursor in the previous answer. */
                    cursor?: string;
                    /** @description Rows in the answer, at most 1000, which is also the default. A larger number counts as the largest. */
                    limit?: number;
                    /** @description Only rows whose name (or id, where there is no name) begins with this. */
                    prefix?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Schedule"][];
                    };
                };
            };
        };
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PostSchedulesRequest"];
                };
            };
            responses: {
                /** @description schedule */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Schedule"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of a schedule. */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description schedule */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Schedule"];
                    };
                };
            };
        };
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of a schedule. */
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PutSchedulesByIdRequest"];
                };
            };
            responses: {
                /** @description schedule */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Schedule"];
                    };
                };
            };
        };
        post?: never;
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of a schedule. */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Status"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules/{id}/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of a schedule. */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description enqueued */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Enqueued"];
                    };
                };
                /** @description enqueued */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Enqueued"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/search/fulltext": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query: {
                    /** @description Jobs in the answer. Any other value counts as absent. */
                    limit?: number;
                    /** @description Words to look for. */
                    q: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["WordSearchAnswer"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/usage/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    /** @description What is summed up apart; tag:<key>: values of that tag. */
                    group_by?: string | ("none" | "queue" | "model" | "provider");
                    /** @description How far back from now, as a duration such as 90m or 7d. */
                    period?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Usage"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    /** @description Value of X-Corvo-Next-Cursor in the previous answer. */
                    cursor?: string;
                    /** @description Rows in the answer, at most 1000, which is also the default. A larger number counts as the largest. */
                    limit?: number;
                    /** @description Only rows whose name (or id, where there is no name) begins with this. */
                    prefix?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Webhook"][];
                    };
                };
            };
        };
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PostWebhooksRequest"];
                };
            };
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["WebhookChanged"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/{queue}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: {
            parameters: {
                query?: {
                    /** @description Attempts in all. */
                    max_retries?: number;
                    /** @description critical, high or normal. */
                    priority?: "critical" | "high" | "normal";
                    /** @description Not before this moment. */
                    scheduled_at?: string;
                    /** @description Tags, as key:value each. */
                    tags?: string[];
                    /** @description While a job with this key holds it, no other is made. */
                    unique_key?: string;
                };
                header?: never;
                path: {
                    /** @description Name of a queue, percent-encoded where it has a '/'; to remove a webhook: its id. */
                    queue: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "*/*": unknown;
                };
            };
            responses: {
                /** @description enqueued */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Enqueued"];
                    };
                };
                /** @description enqueued */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Enqueued"];
                    };
                };
            };
        };
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Name of a queue, percent-encoded where it has a '/'; to remove a webhook: its id. */
                    queue: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["WebhookChanged"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    /** @description Value of X-Corvo-Next-Cursor in the previous answer. */
                    cursor?: string;
                    /** @description Rows in the answer, at most 1000, which is also the default. A larger number counts as the largest. */
                    limit?: number;
                    /** @description Only rows whose name (or id, where there is no name) begins with this. */
                    prefix?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Worker"][];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Acked: {
            /**
             * Format: int64
             * @description Jobs that were completed.
             */
            acked: number;
        };
        Agent: {
            /**
             * Format: int64
             * @description The iteration it is at.
             */
            iteration?: number;
            /** @description How long an iteration may take. */
            iteration_timeout?: string;
            /** @description What it may cost. */
            max_cost_usd?: number;
            /**
             * Format: int64
             * @description Iterations it may make.
             */
            max_iterations?: number;
            /** @description What it has cost. */
            total_cost_usd?: number;
        };
        /** @enum {string} */
        Backoff: "none" | "fixed" | "linear" | "exponential";
        Backup: {
            /** @description Approval policies. */
            approval_policies: unknown[];
            /** @description Batches of these jobs. */
            batches: unknown[];
            /** @description Nothing. */
            budgets: unknown[];
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /** @description Jobs with everything that belongs to them. */
            jobs: unknown[];
            /** @description Format, number of jobs, checksum. */
            meta: {
                [key: string]: unknown;
            };
            /** @description Whose it is. */
            namespace: string;
            /** @description Queues with their settings. */
            queues: unknown[];
            /** @description Schedules. */
            schedules: unknown[];
            /** @description Webhooks, with their secrets. */
            webhooks: unknown[];
        };
        Batch: {
            /** @description What that job is given. */
            callback_payload?: unknown;
            /** @description Where a job goes when all are finished. */
            callback_queue?: string;
            /**
             * Format: date-time
             * @description When it was opened.
             */
            created_at: string;
            /**
             * Format: int64
             * @description Jobs that ended otherwise.
             */
            failed: number;
            /** @description The batch. */
            id: string;
            /**
             * Format: int64
             * @description Jobs that are not finished.
             */
            pending: number;
            /** @description Whether no more jobs may join. */
            sealed: boolean;
            /**
             * Format: int64
             * @description Jobs that were completed.
             */
            succeeded: number;
            /**
             * Format: int64
             * @description Jobs in it.
             */
            total: number;
        };
        BatchOpened: {
            /** @description The new batch. */
            batch_id: string;
        };
        Beat: {
            /**
             * Format: date-time
             * @description When the lease ends unless another heartbeat comes.
             */
            lease_expires_at?: string;
            /** @description Whether to go on. */
            status: components["schemas"]["BeatStatus"];
        };
        Beats: {
            /** @description Jobs whose lease was renewed. */
            acked: string[];
            /** @description Jobs to stop. */
            canceled: string[];
            /** @description By job. */
            jobs: {
                [key: string]: components["schemas"]["Beat"];
            };
            /** @description Jobs that are not there. */
            unknown: string[];
        };
        /** @enum {string} */
        BeatStatus: "ok" | "cancel";
        Bill: {
            /**
             * Format: int64
             * @description Tokens put into the cache.
             */
            cache_creation_tokens: number;
            /**
             * Format: int64
             * @description Tokens found in the cache.
             */
            cache_read_tokens: number;
            /** @description What it cost. */
            cost_usd: number;
            /**
             * Format: int64
             * @description Tokens read.
             */
            input_tokens: number;
            /** @description Whose. */
            namespace: string;
            /**
             * Format: int64
             * @description Tokens written.
             */
            output_tokens: number;
            /**
             * Format: int64
             * @description Reports.
             */
            rows: number;
        };
        Billing: {
            /** @description What was asked for. */
            period: string;
            /** @description By namespace. */
            summary: components["schemas"]["Bill"][];
        };
        Bucket: {
            /**
             * Format: int64
             * @description Cases that took no longer, and longer than the bucket before.
             */
            count: number;
            /** @description A duration, as 1.5ms. */
            le: string;
        };
        /** @enum {string} */
        BulkAction: "retry" | "cancel" | "move" | "delete" | "change_priority" | "requeue" | "hold" | "approve" | "reject";
        BulkDone: {
            /**
             * Format: int64
             * @description Jobs that were changed.
             */
            affected: number;
            /**
             * Format: int64
             * @description Of a dry run: jobs that would be changed.
             */
            applicable?: number;
            /** @description Nothing was changed. */
            dry_run?: boolean;
            /**
             * Format: int64
             * @description How long it took.
             */
            duration_ms: number;
            /**
             * Format: int64
             * @description Jobs that were not.
             */
            errors: number;
            /**
             * Format: int64
             * @description Of a dry run: jobs that are meant.
             */
            matched?: number;
        };
        BulkOperation: {
            /** @description What it does. */
            action: components["schemas"]["BulkTask"];
            /**
             * Format: int64
             * @description Jobs that were changed.
             */
            affected: number;
            /**
             * Format: date-time
             * @description When it was asked for.
             */
            created_at: string;
            /** @description Why it failed. */
            error?: string;
            /**
             * Format: int64
             * @description Jobs that were not.
             */
            errors: number;
            /**
             * Format: date-time
             * @description When it ended.
             */
            finished_at?: string;
            /** @description The operation. */
            id: string;
            /**
             * Format: int64
             * @description Jobs that were looked at.
             */
            processed: number;
            /** @description Where it is. */
            status: components["schemas"]["BulkStatus"];
            /**
             * Format: int64
             * @description Jobs that are meant.
             */
            total: number;
            /**
             * Format: date-time
             * @description When it got on last.
             */
            updated_at?: string;
        };
        BulkStarted: {
            /** @description The operation, which goes on in the background. */
            bulk_operation_id: string;
            /**
             * Format: int64
             * @description Jobs that are meant.
             */
            estimated_total: number;
            /** @description Events about it. */
            progress_url: string;
            /** @description Where it is. */
            status: components["schemas"]["BulkStatus"];
        };
        /** @enum {string} */
        BulkStatus: "queued" | "running" | "completed" | "failed" | "cancelled";
        /** @enum {string} */
        BulkTask: "retry" | "cancel" | "move" | "delete" | "change_priority" | "requeue" | "hold" | "approve" | "reject" | "clear_queue" | "delete_queue";
        ChainConfig: {
            /** @description Jobs that must complete first. */
            depends_on?: string[];
            /** @description The step that is run at the end in any case. */
            on_exit?: components["schemas"]["ChainStep"];
            /** @description "continue", or the step that is run when one fails. */
            on_failure?: unknown;
            /** @description The steps, in order. */
            steps?: components["schemas"]["ChainStep"][];
        };
        ChainStep: {
            /** @description What it is given. */
            payload?: unknown;
            /** @description Where the step's job goes. */
            queue: string;
        };
        ClockAccepted: {
            /**
             * Format: int64
             * @description How far the clock was ahead of the server's time.
             */
            ahead_ms: number;
            /** @description ok */
            status: string;
            /**
             * Format: date-time
             * @description The server's time now.
             */
            time: string;
        };
        ClusterNode: {
            /** @description Where others reach it. */
            address: string;
            /** @description Where clients reach its API. */
            http_url?: string;
            /** @description Its name. */
            id: string;
            /** @description leader, follower or candidate. */
            role: string;
            /** @description Whether it is the one that answers. */
            self: boolean;
            /** @description healthy or degraded. */
            status: string;
            /** @description Whether it has a vote. */
            voter: boolean;
        };
        ClusterStatus: {
            /** @description What waits, and what was refused. */
            admission_stats: {
                [key: string]: number;
            };
            /** @description The last entry that was applied. */
            applied_index: string;
            /**
             * Format: int64
             * @description Operations applied.
             */
            applied_total: number;
            /**
             * Format: int64
             * @description 0: there is no such limit.
             */
            apply_batch_extend_at: number;
            /**
             * Format: int64
             * @description Operations in an entry, at most.
             */
            apply_batch_max: number;
            /** @description A duration, as 1.5ms. */
            apply_batch_min_wait: string;
            /** @description A duration, as 1.5ms. */
            apply_batch_window: string;
            /**
             * Format: int64
             * @description 0: there is no such limit.
             */
            apply_max_fetch_queue_inflight: number;
            /**
             * Format: int64
             * @description Operations under way, at most.
             */
            apply_max_pending: number;
            /**
             * Format: int64
             * @description Operations under way.
             */
            apply_pending_now: number;
            /**
             * Format: int64
             * @description Operations applied at once, at most.
             */
            apply_sub_batch_max: number;
            /** @description How long entries take. */
            apply_time_hist: components["schemas"]["Histogram"];
            /** @description The last entry that is committed. */
            commit_index: string;
            /** @description Whether an answer waits for the disk. */
            durable: boolean;
            /**
             * Format: int64
             * @description Fetches refused for want of room.
             */
            fetch_overload_total: number;
            /** @description Where it is. */
            leader_addr: string;
            /** @description The leader. */
            leader_id: string;
            /** @description Whether events are kept. */
            lifecycle_events: boolean;
            /** @description cluster */
            mode: string;
            /** @description The node that answers. */
            node_id: string;
            /** @description The nodes of the cluster. */
            nodes: components["schemas"]["ClusterNode"][];
            /**
             * Format: int64
             * @description Operations refused for want of room.
             */
            overload_total: number;
            /** @description The state is made again from the log. */
            pebble_nosync: boolean;
            /** @description Numbers of the write pipeline. */
            pipeline_stats: {
                [key: string]: number;
            };
            /** @description How long operations wait. */
            queue_time_hist: components["schemas"]["Histogram"];
            /** @description The opposite. */
            raft_nosync: boolean;
            /** @description How the log is kept. */
            raft_store: string;
            /** @description Snapshots of the state. */
            snapshot: components["schemas"]["SnapshotInfo"];
            /** @description A duration, as 1.5ms. */
            snapshot_interval: string;
            /**
             * Format: int64
             * @description Bytes of log between snapshots.
             */
            snapshot_log_bytes: number;
            /**
             * Format: int64
             * @description 0: bytes count.
             */
            snapshot_threshold: number;
            /** @description Disk space and memory for the log. */
            space: components["schemas"]["Space"];
            /** @description The view that searches read. */
            sqlite_mirror: components["schemas"]["Mirror"];
            /** @description Whether searches are answered by a view. */
            sqlite_mirror_async: boolean;
            /** @description Its being made anew. */
            sqlite_rebuild: components["schemas"]["MirrorRebuild"];
            /** @description Leader, Follower, Candidate or Shutdown. */
            state: string;
            /** @description healthy, or degraded without a leader. */
            status: string;
            /**
             * Format: int64
             * @description The term.
             */
            term: number;
        };
        Dependency: {
            /** @description A job that must complete first. */
            job_id: string;
            /** @description Its state; gone when it is not there any more. */
            state: string;
        };
        Enqueued: {
            /** @description The same, as later clients read it. */
            job?: components["schemas"]["JobRef"];
            /** @description The new job, or the one that holds the unique key. */
            job_id: string;
            /** @description Its state, or that it was there already. */
            status: components["schemas"]["EnqueueStatus"];
            /** @description Whether it was there already. */
            unique_existing: boolean;
            /** @description The one that was there. */
            unique_job_id?: string;
        };
        EnqueuedBatch: {
            /** @description The batch they are in; empty when there is none. */
            batch_id: string;
            /** @description In the order given. */
            job_ids: string[];
        };
        /** @enum {string} */
        EnqueueStatus: "pending" | "scheduled" | "duplicate";
        Error: {
            /**
             * @description What went wrong, for programs.
             * @enum {string}
             */
            code: "PARSE_ERROR" | "VALIDATION_ERROR" | "ACK_ERROR" | "FAIL_ERROR" | "RETRY_ERROR" | "CANCEL_ERROR" | "MOVE_ERROR" | "HOLD_ERROR" | "APPROVE_ERROR" | "REJECT_ERROR" | "REPLAY_ERROR" | "QUEUE_ERROR" | "BULK_ERROR" | "BUDGET_ERROR" | "POLICY_ERROR" | "WEBHOOK_ERROR" | "AUTH_ERROR" | "SCHEDULE_ERROR" | "USAGE_SUMMARY_ERROR" | "JOIN_ERROR" | "UNAUTHORIZED" | "FORBIDDEN" | "LICENSE_ERROR" | "NOT_FOUND" | "METHOD_NOT_ALLOWED" | "CONFLICT" | "SHARD_LEADER_CONFLICT" | "SHARD_COUNT_MISMATCH" | "PAYLOAD_TOO_LARGE" | "IDEMPOTENCY_KEY_REUSED" | "RATE_LIMITED" | "OVERLOADED" | "BUDGET_EXCEEDED" | "INTERNAL_ERROR" | "STORE_ERROR" | "SEARCH_ERROR" | "BACKUP_ERROR" | "BILLING_ERROR" | "SSE_UNSUPPORTED" | "UNSUPPORTED" | "UNHEALTHY" | "LEADER_UNAVAILABLE" | "FORWARD_LOOP" | "REQUEST_TIMEOUT" | "URI_TOO_LONG" | "HEADERS_TOO_LARGE";
            /** @description What went wrong, for people. */
            error: string;
            /** @description With OVERLOADED: when to come again. */
            retry_after_ms?: number;
            /** @description With CONFLICT: the job that holds the unique key. */
            unique_job_id?: string;
        };
        Event: {
            /**
             * Format: int64
             * @description When: nanoseconds since 1970.
             */
            at_ns: number;
            /**
             * Format: date-time
             * @description The same as at_ns.
             */
            created_at: string;
            /** @description More, by type. */
            data?: unknown;
            /**
             * Format: int64
             * @description The same as seq.
             */
            id: number;
            /** @description The job. */
            job_id?: string;
            /** @description The queue. */
            queue?: string;
            /**
             * Format: int64
             * @description Its number; later ones are larger.
             */
            seq: number;
            /** @description An EventType; with job. in front in streams of format=message. */
            type: string;
        };
        Events: {
            /** @description The oldest first. */
            events: components["schemas"]["Event"][];
        };
        /** @enum {string} */
        EventType: "enqueued" | "started" | "completed" | "continued" | "held" | "approved" | "rejected" | "failed" | "progress" | "retrying" | "dead" | "cancelled" | "retried" | "moved" | "deleted" | "priority_changed" | "promoted" | "reclaimed" | "expired" | "queue.paused" | "queue.resumed" | "queue.cleared" | "queue.deleted";
        Failed: {
            /**
             * Format: int64
             * @description The attempt that failed.
             */
            attempt: number;
            /**
             * Format: int64
             * @description Attempts it has left.
             */
            attempts_remaining: number;
            /**
             * Format: date-time
             * @description When it is tried again.
             */
            next_attempt_at?: string;
            /** @description What the job is now. */
            status: components["schemas"]["JobState"];
        };
        FetchedJob: {
            /** @description Limits and course of an agent's job. */
            agent?: components["schemas"]["Agent"];
            /**
             * Format: int64
             * @description Which attempt this is, from 1.
             */
            attempt: number;
            /** @description What the last attempt or iteration left. */
            checkpoint?: unknown;
            /** @description The job's id. */
            job_id: string;
            /**
             * Format: int64
             * @description Seconds until it is taken back unless a heartbeat comes.
             */
            lease_duration: number;
            /**
             * Format: int64
             * @description Proof of the claim, for answers about it.
             */
            lease_token: number;
            /**
             * Format: int64
             * @description Attempts in all.
             */
            max_retries: number;
            /** @description What it was enqueued with. */
            payload: unknown;
            /** @description The queue it came from. */
            queue: string;
            /** @description Its tags. */
            tags?: {
                [key: string]: unknown;
            };
        };
        FetchedJobs: {
            /** @description What was claimed; nothing when the time is over. */
            jobs: components["schemas"]["FetchedJob"][];
        };
        Health: {
            /** @description Whether this node leads. */
            leader: boolean;
            /** @description Leader, Follower, Candidate or Shutdown. */
            raft_state: string;
            /** @description ok */
            status: string;
            /** @description What the node goes on in spite of, for somebody to look at. */
            warnings?: string[];
        };
        Histogram: {
            /** @description A duration, as 1.5ms. */
            avg?: string;
            /** @description By how long they took. */
            buckets?: components["schemas"]["Bucket"][];
            /**
             * Format: int64
             * @description Cases.
             */
            count: number;
            /** @description A duration, as 1.5ms. */
            p50?: string;
            /** @description A duration, as 1.5ms. */
            p90?: string;
            /** @description A duration, as 1.5ms. */
            p99?: string;
        };
        Holder: {
            /** @description Where that runs. */
            hostname?: string;
            /** @description An active job. */
            job_id: string;
            /**
             * Format: date-time
             * @description Until when, at least.
             */
            lease_expires_at?: string;
            /**
             * Format: date-time
             * @description Since when.
             */
            started_at?: string;
            /** @description Who has it. */
            worker_id?: string;
        };
        Info: {
            /** @description Version of this API. */
            api_version: string;
            /** @description Version of the program. */
            server_version: string;
        };
        Iteration: {
            /**
             * Format: int64
             * @description Tokens put into the cache.
             */
            cache_creation_tokens?: number;
            /**
             * Format: int64
             * @description Tokens found in the cache.
             */
            cache_read_tokens?: number;
            /** @description What it left for the next. */
            checkpoint?: unknown;
            /** @description What it cost. */
            cost_usd?: number;
            /**
             * Format: date-time
             * @description When it ended.
             */
            created_at: string;
            /** @description Why it wants a person. */
            hold_reason?: string;
            /**
             * Format: int64
             * @description Number of the entry within the job.
             */
            id: number;
            /**
             * Format: int64
             * @description Tokens read.
             */
            input_tokens?: number;
            /**
             * Format: int64
             * @description Which one, from 1.
             */
            iteration: number;
            /** @description The job. */
            job_id: string;
            /** @description The model used. */
            model?: string;
            /**
             * Format: int64
             * @description Tokens written.
             */
            output_tokens?: number;
            /** @description Whose it is. */
            provider?: string;
            /** @description What came out. */
            result?: unknown;
            /** @description How it ended. */
            status: components["schemas"]["IterationStatus"];
        };
        Iterations: {
            /** @description The oldest first. */
            iterations: components["schemas"]["Iteration"][];
        };
        /** @enum {string} */
        IterationStatus: "continue" | "done" | "hold";
        Job: {
            /** @description Limits and course of an agent's job. */
            agent?: components["schemas"]["Agent"];
            /**
             * Format: int64
             * @description Attempts that were begun.
             */
            attempt: number;
            /** @description The batch it is in. */
            batch_id?: string;
            /**
             * Format: date-time
             * @description When it was cancelled.
             */
            cancelled_at?: string;
            /** @description What comes after it, and before: a ChainConfig, or the caller's own. */
            chain_config?: unknown;
            /** @description The chain it is in. */
            chain_id?: string;
            /**
             * Format: int64
             * @description Its place there, from 0.
             */
            chain_step?: number;
            /** @description What the worker wants to find again. */
            checkpoint?: unknown;
            /**
             * Format: date-time
             * @description When it was completed.
             */
            completed_at?: string;
            /**
             * Format: date-time
             * @description When it was enqueued.
             */
            created_at: string;
            /** @description Its failures, the oldest first. */
            errors?: components["schemas"]["JobError"][];
            /**
             * Format: date-time
             * @description Not after then.
             */
            expire_at?: string;
            /**
             * Format: date-time
             * @description When it failed last.
             */
            failed_at?: string;
            /** @description Why it is held. */
            hold_reason?: string;
            /** @description Where the worker runs. */
            hostname?: string;
            /** @description The job's id. */
            id: string;
            /**
             * Format: date-time
             * @description When it is taken from its worker.
             */
            lease_expires_at?: string;
            /**
             * Format: int64
             * @description Attempts in all.
             */
            max_retries: number;
            /** @description The job it follows. */
            parent_id?: string;
            /** @description What it was enqueued with. */
            payload: unknown;
            /**
             * Format: int64
             * @description 0 critical, 1 high, 2 normal.
             */
            priority: number;
            /** @description What the worker reported; a Progress if it keeps to that. */
            progress?: unknown;
            /** @description The queue it is in. */
            queue: string;
            /** @description What came out. */
            result?: unknown;
            /** @description How the delay grows between attempts. */
            retry_backoff: components["schemas"]["Backoff"];
            /**
             * Format: int64
             * @description The first delay.
             */
            retry_base_delay_ms: number;
            /**
             * Format: int64
             * @description The longest delay.
             */
            retry_max_delay_ms: number;
            /** @description The schedule it came from. */
            schedule_id?: string;
            /**
             * Format: date-time
             * @description Not before then.
             */
            scheduled_at?: string;
            /**
             * Format: date-time
             * @description When the last attempt began.
             */
            started_at?: string;
            /** @description Its state. */
            state: components["schemas"]["JobState"];
            /** @description Its tags. */
            tags?: {
                [key: string]: unknown;
            };
            /** @description No other job with this key is taken while it holds. */
            unique_key?: string;
            /**
             * Format: int64
             * @description Seconds that the unique key holds.
             */
            unique_period?: number;
            /** @description Who has it, or had it last. */
            worker_id?: string;
        };
        JobError: {
            /**
             * Format: int64
             * @description The attempt that failed.
             */
            attempt: number;
            /** @description Where it happened. */
            backtrace?: string;
            /**
             * Format: date-time
             * @description When it failed.
             */
            created_at: string;
            /** @description What the worker said. */
            error: string;
            /**
             * Format: int64
             * @description Number of the entry within the job.
             */
            id: number;
            /** @description The job. */
            job_id: string;
        };
        JobExplanation: {
            /**
             * Format: date-time
             * @description Not after then.
             */
            expire_at?: string;
            /** @description The job. */
            job_id: string;
            /** @description Its place in the queue. */
            position?: components["schemas"]["Position"];
            /** @description The queue it is in. */
            queue: string;
            /** @description Why it does not run, or what it waits for. */
            reasons: components["schemas"]["Reason"][];
            /** @description Whether a fetch could get it now. */
            runnable: boolean;
            /** @description Its state. */
            state: components["schemas"]["JobState"];
        };
        JobRef: {
            /** @description The job. */
            id: string;
            /** @description The queue it is in. */
            queue: string;
            /** @description Its state, or that it was there already. */
            status: components["schemas"]["EnqueueStatus"];
        };
        Jobs: {
            /** @description Those that exist, in the order asked for. */
            jobs: components["schemas"]["Job"][];
        };
        /** @enum {string} */
        JobState: "pending" | "active" | "completed" | "retrying" | "dead" | "cancelled" | "scheduled" | "held";
        JobSummary: {
            /** @description Limits and course of an agent's job. */
            agent?: components["schemas"]["Agent"];
            /**
             * Format: int64
             * @description Attempts that were begun.
             */
            attempt: number;
            /** @description The batch it is in. */
            batch_id?: string;
            /** @description The chain it is in. */
            chain_id?: string;
            /**
             * Format: int64
             * @description Its place there, from 0.
             */
            chain_step?: number;
            /**
             * Format: date-time
             * @description When it was completed.
             */
            completed_at?: string;
            /**
             * Format: date-time
             * @description When it was enqueued.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Not after then.
             */
            expire_at?: string;
            /**
             * Format: date-time
             * @description When it failed last.
             */
            failed_at?: string;
            /** @description Why it is held. */
            hold_reason?: string;
            /** @description The job's id. */
            id: string;
            /** @description What the worker said of the last failure. */
            last_error?: string;
            /**
             * Format: int64
             * @description Attempts in all.
             */
            max_retries: number;
            /** @description The job it follows. */
            parent_id?: string;
            /** @description What it was enqueued with. */
            payload: unknown;
            /**
             * Format: int64
             * @description 0 critical, 1 high, 2 normal.
             */
            priority: number;
            /** @description What the worker reported; a Progress if it keeps to that. */
            progress?: unknown;
            /** @description The queue it is in. */
            queue: string;
            /**
             * Format: date-time
             * @description Not before then.
             */
            scheduled_at?: string;
            /**
             * Format: date-time
             * @description When the last attempt began.
             */
            started_at?: string;
            /** @description Its state. */
            state: components["schemas"]["JobState"];
            /** @description Its tags. */
            tags?: {
                [key: string]: unknown;
            };
            /** @description No other job with this key is taken while it holds. */
            unique_key?: string;
            /** @description Who has it, or had it last. */
            worker_id?: string;
        };
        Joined: {
            /** @description Whether it was no member before. */
            added: boolean;
            /** @description Where peers reach it. */
            addr: string;
            /** @description The node. */
            node_id: string;
            /** @description ok */
            status: string;
        };
        Minute: {
            /**
             * Format: int64
             * @description Jobs completed.
             */
            completed: number;
            /**
             * Format: int64
             * @description Jobs enqueued.
             */
            enqueued: number;
            /**
             * Format: int64
             * @description Attempts that failed.
             */
            failed: number;
            /**
             * Format: date-time
             * @description When it began.
             */
            minute: string;
        };
        Mirror: {
            /**
             * Format: int64
             * @description Changes it has made.
             */
            applied: number;
            /** @description It follows behind the state. */
            async: boolean;
            /**
             * Format: int64
             * @description 0: none is.
             */
            dropped: number;
            /**
             * Format: int64
             * @description Changes it has not made.
             */
            lag: number;
            /** @description It is not written because the disk is nearly full. */
            low_space: boolean;
            /**
             * Format: int64
             * @description 0: there is no limit.
             */
            queue_capacity: number;
            /**
             * Format: int64
             * @description The same.
             */
            queue_depth: number;
            /**
             * Format: int64
             * @description Changes given to it.
             */
            queued: number;
        };
        MirrorRebuild: {
            /**
             * Format: int64
             * @description How long it took.
             */
            last_duration_ms?: number;
            /** @description Why it did not. */
            last_error?: string;
            /**
             * Format: date-time
             * @description When that began.
             */
            last_started_at?: string;
            /** @description Whether it went well. */
            last_success?: boolean;
            /** @description Whether it was made anew. */
            ran: boolean;
            /** @description Whether it is being made anew. */
            running: boolean;
        };
        Policy: {
            /** @description Whether it holds jobs of every namespace. */
            all_namespaces: boolean;
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /** @description Whether it is tried. */
            enabled: boolean;
            /** @description The policy's id. */
            id: string;
            /** @description any or all of the checks must hold. */
            mode: string;
            /** @description For people. */
            name: string;
            /** @description A check: the job's queue. */
            queue?: string;
            /** @description A check: the job's tag of this name… */
            tag_key?: string;
            /** @description …has this value. */
            tag_value?: string;
        };
        Position: {
            /**
             * Format: int64
             * @description Jobs of the queue before it.
             */
            ahead: number;
            /** @description They were not all counted. */
            at_least: boolean;
        };
        PostAckBatchRequest: {
            /** @description The jobs. */
            acks: components["schemas"]["PostAckBatchRequestAcks"][];
        };
        PostAckBatchRequestAcks: {
            /**
             * @description Any job: done, or hold to have a person look at it first.
             * @enum {string}
             */
            ack_status?: "done" | "hold";
            /**
             * @description Agents: how the iteration ended.
             * @enum {string}
             */
            agent_status?: "continue" | "done" | "hold";
            /** @description Replaces the checkpoint. */
            checkpoint?: unknown;
            /** @description Told to the exit handler. Longer text is cut. */
            exit_reason?: string;
            /** @description With hold. Longer text is cut. */
            hold_reason?: string;
            /** @description The job. Longer text is cut. */
            job_id: string;
            /**
             * Format: int64
             * @description The claim that is meant; refused when the job was handed on.
             */
            lease_token?: number;
            /** @description Kept with the job. null is a value of its own. */
            result?: unknown;
            /**
             * @description Chains: whether to go on.
             * @enum {string}
             */
            step_status?: "continue" | "exit";
            /** @description What was used. */
            usage?: components["schemas"]["PostAckBatchRequestAcksUsage"];
        };
        PostAckBatchRequestAcksUsage: {
            /**
             * Format: int64
             * @description Tokens put into the cache.
             */
            cache_creation_tokens?: number;
            /**
             * Format: int64
             * @description Tokens taken from the cache.
             */
            cache_read_tokens?: number;
            /**
             * Format: double
             * @description Dollars.
             */
            cost_usd?: number;
            /**
             * Format: int64
             * @description Tokens read.
             */
            input_tokens?: number;
            /** @description Model. */
            model?: string;
            /**
             * Format: int64
             * @description Tokens written.
             */
            output_tokens?: number;
            /** @description Provider. */
            provider?: string;
        };
        PostAckByJobIdRequest: {
            /**
             * @description Any job: done, or hold to have a person look at it first.
             * @enum {string}
             */
            ack_status?: "done" | "hold";
            /**
             * @description Agents: how the iteration ended.
             * @enum {string}
             */
            agent_status?: "continue" | "done" | "hold";
            /** @description Replaces the checkpoint. */
            checkpoint?: unknown;
            /** @description Told to the exit handler. Longer text is cut. */
            exit_reason?: string;
            /** @description With hold. Longer text is cut. */
            hold_reason?: string;
            /**
             * Format: int64
             * @description The claim that is meant; refused when the job was handed on.
             */
            lease_token?: number;
            /** @description Kept with the job. null is a value of its own. */
            result?: unknown;
            /**
             * @description Chains: whether to go on.
             * @enum {string}
             */
            step_status?: "continue" | "exit";
            /** @description What was used. */
            usage?: components["schemas"]["PostAckBatchRequestAcksUsage"];
        };
        PostAdminRestoreRequest: {
            /** @description The jobs; the rest is as a backup has it. */
            jobs: {
                [key: string]: unknown;
            }[];
        };
        PostApprovalPoliciesRequest: {
            /** @description Hold jobs of every namespace, not only of this one; for admins of the default one. */
            all_namespaces?: boolean;
            /**
             * @description Whether it holds jobs.
             * @default true
             */
            enabled?: boolean;
            /**
             * @description any: one of the checks holds; all: each of them.
             * @enum {string}
             */
            mode?: "any" | "all";
            /** @description Shown to whoever approves. Without control characters. */
            name: string;
            /** @description Check: the job is in this queue. Without control characters. */
            queue?: string;
            /** @description Check: the job has this tag, */
            tag_key?: string;
            /** @description with this value; a job without it counts as empty. */
            tag_value?: string;
        };
        PostClusterJoinRequest: {
            /** @description Where peers reach it. */
            addr: string;
            /** @description Name of the node. */
            node_id: string;
            /**
             * Format: int64
             * @description Shard to join.
             */
            shard?: number;
            /**
             * Format: int64
             * @description How many shards the node has.
             */
            shard_count?: number;
        };
        PostEnqueueBatchRequest: {
            /** @description Makes them a batch. */
            batch?: components["schemas"]["PostEnqueueRequestBatch"];
            /** @description The jobs; all of them are made or none. */
            jobs: components["schemas"]["PostEnqueueRequestJobs"][];
        };
        PostEnqueueRequest: {
            /** @description Makes it an agent's job, with these limits. */
            agent?: components["schemas"]["PostEnqueueRequestAgent"];
            /** @description Makes the list a batch. */
            batch?: components["schemas"]["PostEnqueueRequestBatch"];
            /** @description Open batch to join. */
            batch_id?: string;
            /** @description Steps that follow one another. */
            chain?: components["schemas"]["PostEnqueueRequestChain"];
            /** @description Raw chain membership. */
            chain_config?: {
                [key: string]: unknown;
            };
            /** @description Raw chain membership. */
            chain_id?: string;
            /**
             * Format: int64
             * @description Raw chain membership.
             */
            chain_step?: number;
            /** @description Handed to the worker with the first fetch. */
            checkpoint?: unknown;
            /** @description Ids of jobs that must complete first. */
            depends_on?: string[];
            /**
             * @description The job dies when it was not begun by then.
             * @example 1m30s
             */
            expire_after?: string;
            /**
             * Format: int64
             * @description expire_after in milliseconds; one of the two.
             */
            expire_after_ms?: number;
            /** @description Reserved: refused unless empty. */
            group?: string;
            /** @description Instead of one job: a list, as for enqueue/batch. */
            jobs?: components["schemas"]["PostEnqueueRequestJobs"][];
            /**
             * Format: int64
             * @description Attempts in all.
             * @default 3
             */
            max_retries?: number;
            /** @description For information. */
            parent_id?: string;
            /** @description Any JSON value. null is a value of its own. */
            payload?: unknown;
            /**
             * @description critical, high or normal.
             * @default normal
             */
            priority?: ("critical" | "high" | "normal") | (0 | 1 | 2);
            /** @description Queue to put the job into. Without control characters. */
            queue: string;
            /**
             * @description none, fixed, linear or exponential.
             * @default exponential
             * @enum {string}
             */
            retry_backoff?: "none" | "fixed" | "linear" | "exponential";
            /**
             * @description Delay that the back-off grows from.
             * @default 5s
             * @example 1m30s
             */
            retry_base_delay?: string;
            /**
             * Format: int64
             * @description retry_base_delay in milliseconds; one of the two.
             */
            retry_base_delay_ms?: number;
            /**
             * @description Longest delay; 0s: no cap.
             * @default 10m0s
             * @example 1m30s
             */
            retry_max_delay?: string;
            /**
             * Format: int64
             * @description retry_max_delay in milliseconds; one of the two.
             */
            retry_max_delay_ms?: number;
            /**
             * Format: date-time
             * @description Not before this moment.
             */
            scheduled_at?: string;
            /** @description Of strings as a rule. */
            tags?: {
                [key: string]: unknown;
            };
            /** @description While a job with this key holds it, no other is made. */
            unique_key?: string;
            /**
             * Format: int64
             * @description Seconds that the key is held.
             */
            unique_period?: number;
        };
        PostEnqueueRequestAgent: {
            /** @description How long one iteration may take, as a duration. */
            iteration_timeout?: string;
            /**
             * Format: double
             * @description Dollars before the job is held; 0 or less: no limit.
             */
            max_cost_usd?: number;
            /**
             * Format: int64
             * @description Iterations before the job is held; 0 or less: no limit.
             */
            max_iterations?: number;
        };
        PostEnqueueRequestBatch: {
            /** @description Its payload. null is a value of its own. */
            callback_payload?: unknown;
            /** @description Where the job that tells of the end is put. Without control characters. */
            callback_queue?: string;
        };
        PostEnqueueRequestChain: {
            /** @description Handler for the end. */
            on_exit?: components["schemas"]["PostEnqueueRequestChainSteps"];
            /** @description Handler, queue of a handler, "stop" or "continue". */
            on_failure?: string | {
                [key: string]: unknown;
            };
            /** @description The first is this job. */
            steps: components["schemas"]["PostEnqueueRequestChainSteps"][];
        };
        PostEnqueueRequestChainSteps: {
            /** @description Object whose members the job's payload has, too. */
            payload?: unknown;
            /** @description Where its job goes. Without control characters. */
            queue: string;
        };
        PostEnqueueRequestJobs: {
            /** @description Makes it an agent's job, with these limits. */
            agent?: components["schemas"]["PostEnqueueRequestAgent"];
            /** @description Open batch to join. */
            batch_id?: string;
            /** @description Steps that follow one another. */
            chain?: components["schemas"]["PostEnqueueRequestChain"];
            /** @description Raw chain membership. */
            chain_config?: {
                [key: string]: unknown;
            };
            /** @description Raw chain membership. */
            chain_id?: string;
            /**
             * Format: int64
             * @description Raw chain membership.
             */
            chain_step?: number;
            /** @description Handed to the worker with the first fetch. */
            checkpoint?: unknown;
            /** @description Ids of jobs that must complete first. */
            depends_on?: string[];
            /**
             * @description The job dies when it was not begun by then.
             * @example 1m30s
             */
            expire_after?: string;
            /**
             * Format: int64
             * @description expire_after in milliseconds; one of the two.
             */
            expire_after_ms?: number;
            /** @description Reserved: refused unless empty. */
            group?: string;
            /**
             * Format: int64
             * @description Attempts in all.
             * @default 3
             */
            max_retries?: number;
            /** @description For information. */
            parent_id?: string;
            /** @description Any JSON value. null is a value of its own. */
            payload?: unknown;
            /**
             * @description critical, high or normal.
             * @default normal
             */
            priority?: ("critical" | "high" | "normal") | (0 | 1 | 2);
            /** @description Queue to put the job into. Without control characters. */
            queue: string;
            /**
             * @description none, fixed, linear or exponential.
             * @default exponential
             * @enum {string}
             */
            retry_backoff?: "none" | "fixed" | "linear" | "exponential";
            /**
             * @description Delay that the back-off grows from.
             * @default 5s
             * @example 1m30s
             */
            retry_base_delay?: string;
            /**
             * Format: int64
             * @description retry_base_delay in milliseconds; one of the two.
             */
            retry_base_delay_ms?: number;
            /**
             * @description Longest delay; 0s: no cap.
             * @default 10m0s
             * @example 1m30s
             */
            retry_max_delay?: string;
            /**
             * Format: int64
             * @description retry_max_delay in milliseconds; one of the two.
             */
            retry_max_delay_ms?: number;
            /**
             * Format: date-time
             * @description Not before this moment.
             */
            scheduled_at?: string;
            /** @description Of strings as a rule. */
            tags?: {
                [key: string]: unknown;
            };
            /** @description While a job with this key holds it, no other is made. */
            unique_key?: string;
            /**
             * Format: int64
             * @description Seconds that the key is held.
             */
            unique_period?: number;
        };
        PostFailByJobIdRequest: {
            /** @description Where. Longer text is cut. */
            backtrace?: string;
            /** @description What went wrong. Longer text is cut. */
            error?: string;
            /**
             * Format: int64
             * @description The claim that is meant; refused when the job was handed on.
             */
            lease_token?: number;
        };
        PostFetchBatchRequest: {
            /**
             * Format: int64
             * @description Jobs at most; 512 is the limit.
             * @default 1
             */
            count?: number;
            /** @description Where it runs. */
            hostname?: string;
            /**
             * Format: int64
             * @description Seconds that the claim holds without a heartbeat; default the longer of 60 and timeout.
             */
            lease_duration?: number;
            /** @description Queues to look into, in this order. */
            queues: string[];
            /**
             * Format: int64
             * @description Seconds to wait for a job; 30 by default, 60 at most.
             */
            timeout?: number;
            /** @description Who is asking; registers the worker. */
            worker_id?: string;
        };
        PostFetchRequest: {
            /** @description Where it runs. */
            hostname?: string;
            /**
             * Format: int64
             * @description Seconds that the claim holds without a heartbeat; default the longer of 60 and timeout.
             */
            lease_duration?: number;
            /** @description Queues to look into, in this order. */
            queues: string[];
            /**
             * Format: int64
             * @description Seconds to wait for a job; 30 by default, 60 at most.
             */
            timeout?: number;
            /** @description Who is asking; registers the worker. */
            worker_id?: string;
        };
        PostHeartbeatRequest: {
            /** @description Job id to progress, checkpoint, usage and lease_token; or a list, with job_id. */
            jobs?: {
                [key: string]: {
                    [key: string]: unknown;
                };
            } | {
                [key: string]: unknown;
            }[];
        };
        PostJobsBulkGetRequest: {
            /** @description At most 1000 ids. Longer text is cut. */
            job_ids?: string[];
        };
        PostJobsBulkRequest: {
            /**
             * @description What is done to each job.
             * @enum {string}
             */
            action: "retry" | "requeue" | "cancel" | "hold" | "approve" | "reject" | "move" | "change_priority" | "delete";
            /** @description Go on in the background, however few they are. */
            async?: boolean;
            /** @description Say how many jobs it would be and do nothing. */
            dry_run?: boolean;
            /** @description All jobs that match this search. Unknown members are refused. */
            filter?: {
                [key: string]: unknown;
            };
            /** @description IDs of the jobs. Takes precedence over filter; an empty array counts as absent. */
            job_ids?: string[];
            /** @description For move. Without control characters. */
            move_to_queue?: string;
            /** @description For change_priority. */
            priority?: ("critical" | "high" | "normal") | (0 | 1 | 2);
            /** @description For hold and reject: shown with the job. Longer text is cut. */
            reason?: string;
            /** @description For move: count attempts anew. */
            reset_attempts?: boolean;
        };
        PostJobsByIdHoldRequest: {
            /** @description Shown with the job. Longer text is cut. */
            reason?: string;
        };
        PostJobsByIdMoveRequest: {
            /** @description Where it goes. Without control characters. */
            queue: string;
            /** @description Count attempts from the beginning. */
            reset_attempts?: boolean;
        };
        PostJobsByIdReplayRequest: {
            /**
             * Format: int64
             * @description Iteration to begin after.
             */
            from?: number;
        };
        PostJobsSearchRequest: {
            /**
             * Format: int64
             * @description Attempts, at most.
             */
            attempt_max?: number;
            /**
             * Format: int64
             * @description Attempts, at least.
             */
            attempt_min?: number;
            /** @description Batch. */
            batch_id?: string;
            /** @description Chain. */
            chain_id?: string;
            /**
             * Format: int64
             * @description Step of a chain.
             */
            chain_step?: number;
            /**
             * Format: date-time
             * @description Completed after.
             */
            completed_after?: string;
            /**
             * Format: date-time
             * @description Completed before.
             */
            completed_before?: string;
            /**
             * Format: date-time
             * @description Created after.
             */
            created_after?: string;
            /**
             * Format: date-time
             * @description Created before.
             */
            created_before?: string;
            /** @description From the answer before. */
            cursor?: string;
            /** @description A part of any error, without case. */
            error_contains?: string;
            /**
             * Format: date-time
             * @description Expires after.
             */
            expire_after?: string;
            /**
             * Format: date-time
             * @description Expires before.
             */
            expire_before?: string;
            /** @description With or without error entries. */
            has_errors?: boolean;
            /** @description Beginning of the id. */
            job_id_prefix?: string;
            /**
             * Format: int64
             * @description Jobs in an answer, 50 unless said, at most 1000.
             */
            limit?: number;
            /** @description asc or desc. */
            order?: string;
            /** @description Parent. */
            parent_id?: string;
            /** @description A part of the payload's JSON, without case. */
            payload_contains?: string;
            /** @description A question about the payload, such as .user.id == 7. */
            payload_jq?: string;
            /** @description The priority. */
            priority?: ("critical" | "high" | "normal") | (0 | 1 | 2);
            /** @description Name of the queue. */
            queue?: string;
            /**
             * Format: date-time
             * @description Due after.
             */
            scheduled_after?: string;
            /**
             * Format: date-time
             * @description Due before.
             */
            scheduled_before?: string;
            /** @description created_at, priority, started_at, completed_at, attempt, scheduled_at or failed_at. */
            sort?: string;
            /**
             * Format: date-time
             * @description Claimed after.
             */
            started_after?: string;
            /**
             * Format: date-time
             * @description Claimed before.
             */
            started_before?: string;
            /** @description States, any of: an array, or a text with commas. */
            state?: string | string[];
            /** @description Tags that must all be there. */
            tags?: {
                [key: string]: unknown;
            };
            /** @description Unique key. */
            unique_key?: string;
            /** @description Worker that has it. */
            worker_id?: string;
        };
        PostQueuesByNameConcurrencyRequest: {
            /**
             * Format: int64
             * @description Jobs active at once; 0 or less removes the limit. A larger number counts as the largest.
             */
            max?: number;
        };
        PostQueuesByNameThrottleRequest: {
            /**
             * @description The same as a duration; window_ms wins.
             * @example 1m30s
             */
            period?: string;
            /**
             * Format: int64
             * @description Claims in one window.
             */
            rate: number;
            /**
             * Format: int64
             * @description Length of the window.
             */
            window_ms?: number;
        };
        PostSchedulesRequest: {
            /** @description Five fields, a macro, or @every and a duration. */
            cron: string;
            /**
             * @description Whether it fires.
             * @default true
             */
            enabled?: boolean;
            /**
             * Format: int64
             * @description Attempts of each job.
             * @default 3
             */
            max_retries?: number;
            /** @description Unique name. Without control characters. */
            name: string;
            /** @description Of each job. null is a value of its own. */
            payload?: unknown;
            /**
             * @description Of each job.
             * @default normal
             */
            priority?: ("critical" | "high" | "normal") | (0 | 1 | 2);
            /** @description Where each run's job goes. Without control characters. */
            queue: string;
            /** @description Of each job. */
            tags?: {
                [key: string]: unknown;
            };
            /** @description IANA name; UTC by default. */
            timezone?: string;
            /** @description A run is left out while its key is held. */
            unique_key?: string;
        };
        PostWebhooksRequest: {
            /**
             * @description Whether events are delivered.
             * @default true
             */
            enabled?: boolean;
            /** @description Types of events, also with job. in front, * and ?; all of them by default. */
            events?: string[];
            /** @description Its name; made when it is left out. One that exists is replaced. Without control characters. */
            id?: string;
            /**
             * Format: int64
             * @description Attempts per event.
             * @default 3
             */
            retry_limit?: number;
            /** @description Key of the signature; *** keeps the one that is there. */
            secret?: string;
            /** @description Where events are posted to. */
            url: string;
        };
        Progress: {
            /** @description How far it is. */
            current?: unknown;
            /** @description For people. */
            message?: unknown;
            /** @description How far it goes. */
            total?: unknown;
        };
        PutSchedulesByIdRequest: {
            /** @description Five fields, a macro, or @every and a duration. */
            cron?: string;
            /** @description Whether it fires. */
            enabled?: boolean;
            /**
             * Format: int64
             * @description Attempts of each job.
             */
            max_retries?: number;
            /** @description Unique name. Without control characters. */
            name?: string;
            /** @description Of each job. null is a value of its own. */
            payload?: unknown;
            /** @description Of each job. */
            priority?: ("critical" | "high" | "normal") | (0 | 1 | 2);
            /** @description Where each run's job goes. Without control characters. */
            queue?: string;
            /** @description Of each job. */
            tags?: {
                [key: string]: unknown;
            };
            /** @description IANA name; UTC by default. */
            timezone?: string;
            /** @description A run is left out while its key is held. */
            unique_key?: string;
        };
        Queue: {
            /**
             * Format: int64
             * @description Jobs in that state.
             */
            active: number;
            /**
             * Format: int64
             * @description Jobs in that state.
             */
            cancelled: number;
            /**
             * Format: int64
             * @description Jobs in that state.
             */
            completed: number;
            /**
             * Format: date-time
             * @description When it was first used.
             */
            created_at?: string;
            /**
             * Format: int64
             * @description Jobs in that state.
             */
            dead: number;
            /**
             * Format: int64
             * @description Jobs in all states.
             */
            enqueued: number;
            /**
             * Format: int64
             * @description Attempts that failed, ever.
             */
            failed: number;
            /**
             * Format: int64
             * @description Jobs in that state.
             */
            held: number;
            /**
             * Format: int64
             * @description Jobs that may be active at once.
             */
            max_concurrency?: number;
            /** @description Its name. */
            name: string;
            /**
             * Format: date-time
             * @description When the oldest pending job was enqueued.
             */
            oldest_pending_at?: string;
            /** @description Whether no jobs are handed out. */
            paused: boolean;
            /**
             * Format: int64
             * @description Jobs in that state.
             */
            pending: number;
            /**
             * Format: int64
             * @description Jobs that may begin in a window.
             */
            rate_limit?: number;
            /**
             * Format: int64
             * @description The window.
             */
            rate_window_ms?: number;
            /**
             * Format: int64
             * @description Jobs in that state.
             */
            retrying: number;
            /**
             * Format: int64
             * @description Jobs in that state.
             */
            scheduled: number;
        };
        QueueExplanation: {
            /**
             * Format: int64
             * @description Jobs in that state.
             */
            active: number;
            /**
             * Format: int64
             * @description Jobs in that state.
             */
            held: number;
            /**
             * Format: int64
             * @description Pending jobs that wait for nothing else.
             */
            in_line: number;
            /**
             * Format: int64
             * @description Jobs in that state.
             */
            pending: number;
            /** @description The queue. */
            queue: string;
            /** @description Why no job of it is handed out. */
            reasons: components["schemas"]["Reason"][];
            /**
             * Format: int64
             * @description Jobs in that state.
             */
            retrying: number;
            /** @description Whether a fetch could get one now. */
            runnable: boolean;
            /**
             * Format: int64
             * @description Jobs in that state.
             */
            scheduled: number;
            /** @description Some of those that asked for its jobs. */
            workers: components["schemas"]["QueueWorker"][];
            /**
             * Format: int64
             * @description How many they are.
             */
            workers_total: number;
        };
        QueueWorker: {
            /** @description Where it runs. */
            hostname?: string;
            /** @description Its name. */
            id: string;
            /**
             * Format: date-time
             * @description When it was heard of.
             */
            last_heartbeat: string;
        };
        Reason: {
            /**
             * Format: int64
             * @description Jobs that are.
             */
            active?: number;
            /**
             * Format: date-time
             * @description When it ended.
             */
            at?: string;
            /**
             * Format: int64
             * @description Attempts that were begun.
             */
            attempt?: number;
            /** @description The rule. */
            code: string;
            /**
             * Format: int64
             * @description How many they are.
             */
            count?: number;
            /** @description Some of them. */
            held_by?: components["schemas"]["Holder"][];
            /** @description Whether there are more of them. */
            held_by_more?: boolean;
            /** @description Why it is held. */
            hold_reason?: string;
            /** @description Where that runs. */
            hostname?: string;
            /** @description What the worker said of the last failure. */
            last_error?: string;
            /**
             * Format: date-time
             * @description When a worker was heard of last.
             */
            last_heartbeat?: string;
            /**
             * Format: int64
             * @description Jobs that may be active at once.
             */
            max_concurrency?: number;
            /**
             * Format: int64
             * @description Attempts in all.
             */
            max_retries?: number;
            /** @description The rule, for people. */
            message: string;
            /**
             * Format: int64
             * @description Jobs that may begin in a window.
             */
            rate_limit?: number;
            /**
             * Format: int64
             * @description The window.
             */
            rate_window_ms?: number;
            /**
             * Format: date-time
             * @description Since when.
             */
            started_at?: string;
            /**
             * Format: date-time
             * @description When it is over.
             */
            until?: string;
            /** @description Jobs that must complete first. */
            waits_for?: components["schemas"]["Dependency"][];
            /** @description Who has it. */
            worker_id?: string;
        };
        Rebuilt: {
            /**
             * Format: int64
             * @description How long it took.
             */
            duration_ms: number;
            /** @description true */
            rebuilt: boolean;
            /** @description ok */
            status: string;
        };
        Restored: {
            /**
             * Format: int64
             * @description Jobs that were refused.
             */
            failed_jobs?: number;
            /** @description Into which namespace. */
            namespace: string;
            /**
             * Format: int64
             * @description Jobs that were put back.
             */
            restored_jobs: number;
            /**
             * Format: int64
             * @description Jobs that were there already.
             */
            skipped_jobs?: number;
            /** @description ok */
            status: string;
        };
        Runtime: {
            /**
             * Format: int64
             * @description Processor time of the system for it.
             */
            cpu_sys_ns: number;
            /**
             * Format: int64
             * @description Processor time of the program.
             */
            cpu_user_ns: number;
            /**
             * Format: int64
             * @description 0: nothing is collected.
             */
            gc_pause_p99_ns: number;
            /**
             * Format: int64
             * @description Processors.
             */
            gomaxprocs: number;
            /**
             * Format: int64
             * @description Threads.
             */
            goroutines: number;
            /**
             * Format: int64
             * @description Memory in use.
             */
            heap_inuse_bytes: number;
            /**
             * Format: int64
             * @description Memory of stacks.
             */
            stack_inuse_bytes: number;
        };
        Schedule: {
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /** @description When: five fields, or a word with @. */
            cron: string;
            /** @description Whether it makes jobs. */
            enabled: boolean;
            /** @description The schedule. */
            id: string;
            /**
             * Format: date-time
             * @description When it last made a job.
             */
            last_run?: string;
            /**
             * Format: int64
             * @description Attempts in all of its jobs.
             */
            max_retries: number;
            /** @description Its name. */
            name: string;
            /**
             * Format: date-time
             * @description When it makes the next one.
             */
            next_run?: string;
            /** @description What its jobs are given. */
            payload: unknown;
            /**
             * Format: int64
             * @description 0 critical, 1 high, 2 normal; left out at 2.
             */
            priority?: number;
            /** @description Where its jobs go. */
            queue: string;
            /** @description Tags of its jobs. */
            tags?: {
                [key: string]: unknown;
            };
            /** @description In which time zone. */
            timezone: string;
            /** @description The unique key of its jobs. */
            unique_key?: string;
            /**
             * Format: date-time
             * @description When it was changed.
             */
            updated_at?: string;
        };
        Sealed: {
            /** @description The job that tells of the end, when the batch had ended. */
            callback_job?: components["schemas"]["JobRef"];
            /** @description That no more jobs join. */
            status: string;
        };
        SearchAnswer: {
            /** @description Asks for the next page. */
            cursor?: string;
            /**
             * Format: int64
             * @description How long it took.
             */
            duration_ms: number;
            /** @description Whether there is one. */
            has_more: boolean;
            /** @description A page of those that fit. */
            jobs: components["schemas"]["JobSummary"][];
            /**
             * Format: int64
             * @description How many fit.
             */
            total: number;
        };
        SnapshotInfo: {
            /**
             * Format: int64
             * @description Snapshots taken.
             */
            count: number;
            /**
             * Format: int64
             * @description The last entry in the latest.
             */
            latest_index?: number;
            /**
             * Format: int64
             * @description The term of that entry.
             */
            latest_term?: number;
        };
        Space: {
            /**
             * Format: int64
             * @description Free bytes on the disk of the data directory.
             */
            free_bytes: number;
            /** @description ok, low (new jobs are refused) or full (only deletions are accepted). */
            level: string;
            /**
             * Format: int64
             * @description Bytes of log entries in memory.
             */
            log_memory_bytes: number;
            /**
             * Format: int64
             * @description Bytes of log entries in memory at which all writes are refused.
             */
            log_memory_max_bytes: number;
            /**
             * Format: int64
             * @description Free bytes below which new jobs are refused.
             */
            needed_bytes: number;
            /** @description Why requests are refused; empty when none are. */
            reason: string;
            /**
             * Format: int64
             * @description Size of the reserve file; 0 after it was given up.
             */
            reserve_bytes: number;
        };
        Status: {
            /** @description What became of it. */
            status: string;
        };
        Usage: {
            /**
             * Format: date-time
             * @description Since when.
             */
            from: string;
            /** @description The same in parts. */
            groups?: components["schemas"]["UsageGroup"][];
            /** @description What was asked for. */
            period: string;
            /**
             * Format: date-time
             * @description Until when.
             */
            to: string;
            /** @description Everything. */
            totals: components["schemas"]["UsageSum"];
        };
        UsageGroup: {
            /**
             * Format: int64
             * @description Tokens put into the cache.
             */
            cache_creation_tokens: number;
            /**
             * Format: int64
             * @description Tokens found in the cache.
             */
            cache_read_tokens: number;
            /** @description What it cost. */
            cost_usd: number;
            /**
             * Format: int64
             * @description Reports.
             */
            count: number;
            /**
             * Format: int64
             * @description Tokens read.
             */
            input_tokens: number;
            /** @description The queue, model, provider or tag. */
            key: string;
            /**
             * Format: int64
             * @description Tokens written.
             */
            output_tokens: number;
        };
        UsageSum: {
            /**
             * Format: int64
             * @description Tokens put into the cache.
             */
            cache_creation_tokens: number;
            /**
             * Format: int64
             * @description Tokens found in the cache.
             */
            cache_read_tokens: number;
            /** @description What it cost. */
            cost_usd: number;
            /**
             * Format: int64
             * @description Reports.
             */
            count: number;
            /**
             * Format: int64
             * @description Tokens read.
             */
            input_tokens: number;
            /**
             * Format: int64
             * @description Tokens written.
             */
            output_tokens: number;
        };
        Webhook: {
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /** @description Whether events are delivered. */
            enabled: boolean;
            /** @description Types of events. */
            events: string[];
            /** @description Its name. */
            id: string;
            /**
             * Format: date-time
             * @description When it was tried last.
             */
            last_delivery_at?: string;
            /** @description Why the last delivery failed. */
            last_error?: string;
            /**
             * Format: int64
             * @description What the receiver answered last.
             */
            last_status_code?: number;
            /**
             * Format: int64
             * @description The last event that is done with.
             */
            position: number;
            /**
             * Format: int64
             * @description Attempts per event.
             */
            retry_limit: number;
            /** @description *** when there is one. */
            secret?: string;
            /** @description Where events are posted to. */
            url: string;
        };
        WebhookChanged: {
            /** @description The webhook. */
            id: string;
            /** @description ok or deleted. */
            status: string;
        };
        WordHit: {
            /**
             * Format: date-time
             * @description When it was enqueued.
             */
            created_at: string;
            /** @description The job. */
            id: string;
            /** @description JSON, as a text. */
            payload: string;
            /** @description The queue it is in. */
            queue: string;
            /** @description Its state. */
            state: components["schemas"]["JobState"];
            /** @description JSON, as a text; empty without tags. */
            tags: string;
        };
        WordSearchAnswer: {
            /** @description What was asked for. */
            q: string;
            /** @description The newest first. */
            results: components["schemas"]["WordHit"][];
        };
        Worker: {
            /** @description Where it runs. */
            hostname: string | null;
            /** @description Its name. */
            id: string;
            /**
             * Format: date-time
             * @description When it was heard of.
             */
            last_heartbeat: string;
            /** @description Names of queues: a JSON array, as a text. */
            queues: string | null;
            /**
             * Format: date-time
             * @description When it was first heard of.
             */
            started_at: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
