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
                    /** @description Job ID. */
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
                        "application/json": components["schemas"]["AckedOne"];
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
                    /** @description Include the credentials of jobs that the server delivers. */
                    include_secrets?: boolean;
                    /** @description Namespace to back up. The caller's namespace by default. */
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
                    /** @description enqueue creates new pending jobs. keep restores jobs with their IDs and states, if the backup's format supports it. */
                    mode?: "keep" | "enqueue";
                    /** @description Number of jobs to skip, counted from the first job of the backup. Use it to continue an interrupted restore. */
                    skip?: number;
                    /** @description true refuses a backup whose checksum does not match. By default such a backup is restored and the response has a warning. */
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
                    /** @description Value of X-Corvo-Next-Cursor in the previous response. */
                    cursor?: string;
                    /** @description Maximum number of rows. Default and maximum: 1000. Larger values are reduced to the maximum. */
                    limit?: number;
                    /** @description Only rows whose name (or ID, if there is no name) has this prefix. */
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
                    /** @description Approval policy ID. */
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
    "/api/v1/audit-logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    /** @description jsonl returns all entries, one per line, for exports. */
                    format?: string;
                    /** @description Maximum number of entries. */
                    limit?: number;
                    /** @description Only requests with this method. Not case-sensitive. */
                    method?: string;
                    /** @description Only requests in this namespace. */
                    namespace?: string;
                    /** @description Number of newest entries to skip. */
                    offset?: number;
                    /** @description Only paths with this prefix. */
                    path_prefix?: string;
                    /** @description Only requests of this caller. */
                    principal?: string;
                    /** @description Start of the range. */
                    since?: string;
                    /** @description End of the range. */
                    until?: string;
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
                        "application/json": components["schemas"]["AuditLog"];
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
    "/api/v1/auth/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    /** @description Value of X-Corvo-Next-Cursor in the previous response. */
                    cursor?: string;
                    /** @description Maximum number of rows. Default and maximum: 1000. Larger values are reduced to the maximum. */
                    limit?: number;
                    /** @description Only rows whose name (or ID, if there is no name) has this prefix. */
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
                        "application/json": components["schemas"]["Key"][];
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
                    "application/json": components["schemas"]["PostAuthKeysRequest"];
                };
            };
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["KeyMade"];
                    };
                };
            };
        };
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["DeleteAuthKeysRequest"];
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
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/keys/{key_hash}/roles": {
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
                    /** @description SHA-256 of a key's secret, in hex. */
                    key_hash: string;
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
                        "application/json": components["schemas"]["KeyRoles"];
                    };
                };
            };
        };
        put?: never;
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description SHA-256 of a key's secret, in hex. */
                    key_hash: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PostAuthKeysByKeyHashRolesRequest"];
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
    "/api/v1/auth/keys/{key_hash}/roles/{role}": {
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
                    /** @description SHA-256 of a key's secret, in hex. */
                    key_hash: string;
                    /** @description Name of a custom role. */
                    role: string;
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
    "/api/v1/auth/keys/{key_hash}/rotate": {
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
                    /** @description SHA-256 of a key's secret, in hex. */
                    key_hash: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["PostAuthKeysByKeyHashRotateRequest"];
                };
            };
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["KeyMade"];
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
    "/api/v1/auth/permissions": {
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
                        "application/json": components["schemas"]["Permissions"];
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
    "/api/v1/auth/roles": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    /** @description Value of X-Corvo-Next-Cursor in the previous response. */
                    cursor?: string;
                    /** @description Maximum number of rows. Default and maximum: 1000. Larger values are reduced to the maximum. */
                    limit?: number;
                    /** @description Only rows whose name (or ID, if there is no name) has this prefix. */
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
                        "application/json": components["schemas"]["Role"][];
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
                    "application/json": components["schemas"]["PostAuthRolesRequest"];
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
    "/api/v1/auth/roles/{name}": {
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
                    /** @description Name of a custom role. */
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
    "/api/v1/auth/session": {
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
                    "application/json": components["schemas"]["PostAuthSessionRequest"];
                };
            };
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SessionBegun"];
                    };
                };
            };
        };
        delete: {
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
                        "application/json": components["schemas"]["SessionBegun"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    /** @description Value of X-Corvo-Next-Cursor in the previous response. */
                    cursor?: string;
                    /** @description Maximum number of rows. Default and maximum: 1000. Larger values are reduced to the maximum. */
                    limit?: number;
                    /** @description Only rows whose name (or ID, if there is no name) has this prefix. */
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
                        "application/json": components["schemas"]["Session"][];
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
    "/api/v1/auth/sessions/{id}": {
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
                    /** @description Session ID. */
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
    "/api/v1/auth/sso/callback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    /** @description Authorization code from the provider. */
                    code?: string;
                    /** @description Error code from the provider. */
                    error?: string;
                    /** @description State parameter of the sign-in request. */
                    state?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: never;
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/sso/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    /** @description Page of the interface to return to. */
                    return_to?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: never;
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/status": {
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
                        "application/json": components["schemas"]["AuthStatus"];
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
                    /** @description Batch ID. */
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
                    /** @description Batch ID. */
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
                    /** @description Length of the period up to now, as a duration such as 90m or 7d. */
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
    "/api/v1/budgets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    /** @description Value of X-Corvo-Next-Cursor in the previous response. */
                    cursor?: string;
                    /** @description Maximum number of rows. Default and maximum: 1000. Larger values are reduced to the maximum. */
                    limit?: number;
                    /** @description Only rows whose name (or ID, if there is no name) has this prefix. */
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
                        "application/json": components["schemas"]["Budget"][];
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
                    "application/json": components["schemas"]["PostBudgetsRequest"];
                };
            };
            responses: {
                /** @description budget */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Budget"];
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
    "/api/v1/budgets/{scope}/{target}": {
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
                    /** @description Scope: queue, tag or global. */
                    scope: string;
                    /** @description Queue name, tag as key=value, or *. */
                    target: string;
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
                    /** @description Bulk operation ID. */
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
                    /** @description Bulk operation ID. */
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
                    /** @description Bulk operation ID. */
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
    "/api/v1/cluster/audit": {
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
                    "application/json": components["schemas"]["PostClusterAuditRequest"];
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
                    /** @description Return events after this sequence number. */
                    after_seq?: number;
                    /** @description Only events of these jobs. */
                    job_ids?: string[];
                    /** @description Maximum number of events. Larger values are reduced to the maximum. */
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
    "/api/v1/cluster/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    /** @description json, or csv for a table with one line per step. */
                    format?: "json" | "csv";
                    /** @description Start of the range: a time, or a duration before now such as 1h or 7d. */
                    from?: string;
                    /** @description Length of a step: whole minutes, such as 1m, 15m or 1d. Chosen to return about 120 points if left out. */
                    step?: string;
                    /** @description End of the range, in the same form. Now if left out. */
                    to?: string;
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
                        "application/json": components["schemas"]["NodeHistory"];
                        "text/csv": string;
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
    "/api/v1/cluster/leave": {
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
                    "application/json": components["schemas"]["PostClusterLeaveRequest"];
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
    "/api/v1/cluster/nodes/{id}": {
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
                    /** @description Node name. */
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
    "/api/v1/cluster/transfer": {
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
                    "application/json": components["schemas"]["PostClusterTransferRequest"];
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
                    /** @description Created after this time. */
                    created_after?: string;
                    /** @description Created before this time. */
                    created_before?: string;
                    /** @description Cursor of the previous response. */
                    cursor?: string;
                    /** @description Text in any error message. Not case-sensitive. */
                    error_contains?: string;
                    /** @description Maximum number of jobs. Default 50, at most 1000. */
                    limit?: number;
                    /** @description Sort order: asc or desc. */
                    order?: string;
                    /** @description Text in the JSON of the payload. Not case-sensitive. */
                    payload_contains?: string;
                    /** @description jq expression about the payload, such as .user.id == 7. */
                    payload_jq?: string;
                    /** @description Name of the queue. */
                    queue?: string;
                    /** @description Sort by created_at, priority, started_at, completed_at, attempt, scheduled_at or failed_at. */
                    sort?: string;
                    /** @description Tag that must match, as key:value. */
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
    "/api/v1/errors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    /** @description Start of the range: a time, or a duration before now such as 1h or 7d. */
                    from?: string;
                    /** @description Maximum number of groups. 50 if left out. */
                    limit?: number;
                    /** @description Queue to report on. All queues if left out. */
                    queue?: string;
                    /** @description End of the range, in the same form. Now if left out. */
                    to?: string;
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
                        "application/json": components["schemas"]["ErrorGroups"];
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
                    /** @description Format of each event: named, message or both. Default: named; both for a browser's EventSource. */
                    format?: "named" | "message" | "both";
                    /** @description Only events of these jobs. */
                    job_ids?: string[];
                    /** @description Return events after this sequence number. If the header Last-Event-ID is set too, the larger number is used. Any other value is treated as absent. */
                    last_event_id?: number;
                    /** @description Only events of these queues. */
                    queues?: string[];
                    /** @description If no position is given, start with this many past events. 0: new events only. */
                    tail?: number;
                    /** @description Only events of these types, such as completed, job.completed, job.* or *. */
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
                    /** @description Job ID. */
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
                /** @description no job arrived within the timeout */
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
    "/api/v1/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    /** @description json, or csv for a table with one line per step. */
                    format?: "json" | "csv";
                    /** @description Start of the range: a time, or a duration before now such as 1h or 7d. */
                    from?: string;
                    /** @description Queue to report on. All queues if left out. */
                    queue?: string;
                    /** @description Series to return, comma-separated: enqueued, started, completed, failed, retried, dead, cancelled, expired, depth, oldest, workers, wait, run. All if left out. */
                    series?: string[];
                    /** @description Length of a step: whole minutes, such as 1m, 15m or 1d. Chosen to return about 120 points if left out. */
                    step?: string;
                    /** @description End of the range, in the same form. Now if left out. */
                    to?: string;
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
                        "application/json": components["schemas"]["History"];
                        "text/csv": string;
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
    "/api/v1/history/queues": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    /** @description Start of the range: a time, or a duration before now such as 1h or 7d. */
                    from?: string;
                    /** @description Queues to report on, comma-separated, at most 100. */
                    queues?: string[];
                    /** @description The series: one of those of /history. Of wait and run, the 99th percentile. Default: completed. */
                    series?: string[];
                    /** @description Length of a step: whole minutes, such as 1m, 15m or 1d. Chosen to return about 120 points if left out. */
                    step?: string;
                    /** @description End of the range, in the same form. Now if left out. */
                    to?: string;
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
                        "application/json": components["schemas"]["HistoryQueues"];
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
                    /** @description Job ID. */
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
                    /** @description Job ID. */
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
                query?: {
                    /** @description Comment on the decision. The audit log records it in metadata.query. */
                    comment?: string;
                };
                header?: never;
                path: {
                    /** @description Job ID. */
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
                    /** @description Job ID. */
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
                    /** @description Job ID. */
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
                    /** @description Job ID. */
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
                    /** @description Job ID. */
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
                    /** @description Job ID. */
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
                    /** @description Job ID. */
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
                    /** @description Iteration to continue from, if the body does not name one. Any other value is treated as absent. */
                    from?: number;
                };
                header?: never;
                path: {
                    /** @description Job ID. */
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
                    /** @description Job ID. */
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
    "/api/v1/markers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    /** @description Start of the range: a time, or a duration before now such as 1h or 7d. */
                    from?: string;
                    /** @description Markers of this queue and markers without a queue. All markers if left out. */
                    queue?: string;
                    /** @description End of the range, in the same form. Now if left out. */
                    to?: string;
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
                        "application/json": components["schemas"]["Marker"][];
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
                    "application/json": components["schemas"]["PostMarkersRequest"];
                };
            };
            responses: {
                /** @description marker */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Marker"];
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
    "/api/v1/markers/{id}": {
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
                    /** @description Marker ID. */
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
    "/api/v1/namespaces": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    /** @description Value of X-Corvo-Next-Cursor in the previous response. */
                    cursor?: string;
                    /** @description Maximum number of rows. Default and maximum: 1000. Larger values are reduced to the maximum. */
                    limit?: number;
                    /** @description Only rows whose name (or ID, if there is no name) has this prefix. */
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
                        "application/json": components["schemas"]["Namespace"][];
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
                    "application/json": components["schemas"]["PostNamespacesRequest"];
                };
            };
            responses: {
                /** @description Created */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["NamespaceMade"];
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
    "/api/v1/namespaces/{name}": {
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
                    /** @description Namespace name. */
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
    "/api/v1/namespaces/{name}/quota": {
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
                    /** @description Namespace name. */
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
                        "application/json": components["schemas"]["NamespaceQuota"];
                    };
                };
            };
        };
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Namespace name. */
                    name: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PutNamespacesByNameQuotaRequest"];
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
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/namespaces/{name}/rate-limit": {
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
                    /** @description Namespace name. */
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
                        "application/json": components["schemas"]["NamespaceLimits"];
                    };
                };
            };
        };
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Namespace name. */
                    name: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PutNamespacesByNameRateLimitRequest"];
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
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/org": {
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
                /** @description organisation */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Organisation"];
                    };
                };
            };
        };
        put: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PutOrgRequest"];
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
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/org/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    /** @description Value of X-Corvo-Next-Cursor in the previous response. */
                    cursor?: string;
                    /** @description Maximum number of rows. Default and maximum: 1000. Larger values are reduced to the maximum. */
                    limit?: number;
                    /** @description Only rows whose name (or ID, if there is no name) has this prefix. */
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
                        "application/json": components["schemas"]["OrganisationKey"][];
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
                    "application/json": components["schemas"]["PutOrgRequest"];
                };
            };
            responses: {
                /** @description organisation secret */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["OrganisationSecret"];
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
    "/api/v1/org/api-keys/{id}": {
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
                    /** @description Organization key ID. */
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
    "/api/v1/org/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    /** @description Value of X-Corvo-Next-Cursor in the previous response. */
                    cursor?: string;
                    /** @description Maximum number of rows. Default and maximum: 1000. Larger values are reduced to the maximum. */
                    limit?: number;
                    /** @description Only rows whose name (or ID, if there is no name) has this prefix. */
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
                        "application/json": components["schemas"]["Member"][];
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
                    "application/json": components["schemas"]["PostOrgMembersRequest"];
                };
            };
            responses: {
                /** @description member */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Member"];
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
    "/api/v1/org/members/{id}": {
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
                    /** @description Member ID. */
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
    "/api/v1/push/hosts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    /** @description Value of X-Corvo-Next-Cursor in the previous response. */
                    cursor?: string;
                    /** @description Maximum number of rows. Default and maximum: 1000. Larger values are reduced to the maximum. */
                    limit?: number;
                    /** @description Only rows whose name (or ID, if there is no name) has this prefix. */
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
                        "application/json": components["schemas"]["PushHost"][];
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
                    /** @description Value of X-Corvo-Next-Cursor in the previous response. */
                    cursor?: string;
                    /** @description Maximum number of rows. Default and maximum: 1000. Larger values are reduced to the maximum. */
                    limit?: number;
                    /** @description Only rows whose name (or ID, if there is no name) has this prefix. */
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
                    /** @description Queue name. Encode a '/' as %2F. */
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
                    /** @description Return 202 at once and continue in the background. The header Prefer: respond-async does the same. */
                    async?: boolean;
                    /** @description Accepted for compatibility; has no effect. */
                    confirm?: boolean;
                };
                header?: never;
                path: {
                    /** @description Queue name. Encode a '/' as %2F. */
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
                    /** @description Return 202 at once and continue in the background. The header Prefer: respond-async does the same. */
                    async?: boolean;
                };
                header?: never;
                path: {
                    /** @description Queue name. Encode a '/' as %2F. */
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
                    /** @description Queue name. Encode a '/' as %2F. */
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
                    /** @description Queue name. Encode a '/' as %2F. */
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
                    /** @description Queue name. Encode a '/' as %2F. */
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
                    /** @description Queue name. Encode a '/' as %2F. */
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
                    /** @description Queue name. Encode a '/' as %2F. */
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
                    /** @description Queue name. Encode a '/' as %2F. */
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
                    /** @description Queue name. Encode a '/' as %2F. */
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
                    /** @description Value of X-Corvo-Next-Cursor in the previous response. */
                    cursor?: string;
                    /** @description Maximum number of rows. Default and maximum: 1000. Larger values are reduced to the maximum. */
                    limit?: number;
                    /** @description Only rows whose name (or ID, if there is no name) has this prefix. */
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
                    /** @description Schedule ID. */
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
                    /** @description Schedule ID. */
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
                    /** @description Schedule ID. */
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
                    /** @description Schedule ID. */
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
                    /** @description Maximum number of jobs. Any other value is treated as absent. */
                    limit?: number;
                    /** @description Words to search for. */
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
    "/api/v1/settings/sso": {
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
                /** @description SSO settings */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SsoSettings"];
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
                    "application/json": components["schemas"]["PostSettingsSsoRequest"];
                };
            };
            responses: {
                /** @description OK */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SsoSaved"];
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
    "/api/v1/upcoming": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: {
            parameters: {
                query?: {
                    /** @description Value of X-Corvo-Next-Cursor in the previous response. */
                    cursor?: string;
                    /** @description Maximum number of rows. Default and maximum: 1000. Larger values are reduced to the maximum. */
                    limit?: number;
                    /** @description Only rows whose name (or ID, if there is no name) has this prefix. */
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
                        "application/json": components["schemas"]["UpcomingRuns"][];
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
                    /** @description Grouping. tag:<key> groups by the values of that tag. */
                    group_by?: string | ("none" | "queue" | "model" | "provider");
                    /** @description Length of the period up to now, as a duration such as 90m or 7d. */
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
                    /** @description Value of X-Corvo-Next-Cursor in the previous response. */
                    cursor?: string;
                    /** @description Maximum number of rows. Default and maximum: 1000. Larger values are reduced to the maximum. */
                    limit?: number;
                    /** @description Only rows whose name (or ID, if there is no name) has this prefix. */
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
                    /** @description Maximum number of attempts, including the first. */
                    max_retries?: number;
                    /** @description Priority: critical, high or normal. */
                    priority?: ("critical" | "high" | "normal") | (0 | 1 | 2);
                    /** @description The job does not start before this time. */
                    scheduled_at?: string;
                    /** @description Tags, each as key:value. */
                    tags?: string[];
                    /** @description Unique key. While a job holds it, no second job with the same key is created. */
                    unique_key?: string;
                };
                header?: never;
                path: {
                    /** @description Queue name; for DELETE, the webhook ID. Encode a '/' as %2F. */
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
                    /** @description Queue name; for DELETE, the webhook ID. Encode a '/' as %2F. */
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
                    /** @description Value of X-Corvo-Next-Cursor in the previous response. */
                    cursor?: string;
                    /** @description Maximum number of rows. Default and maximum: 1000. Larger values are reduced to the maximum. */
                    limit?: number;
                    /** @description Only rows whose name (or ID, if there is no name) has this prefix. */
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
             * @description Number of jobs completed.
             */
            acked: number;
            /** @description With `next`: the fetched jobs. */
            next?: components["schemas"]["FetchedJobs"];
            /** @description Why the next job could not be fetched, though the ack succeeded. */
            next_error?: components["schemas"]["NextError"];
        };
        AckedOne: {
            /** @description With `next`: the fetched job; null if there is none. */
            next?: components["schemas"]["FetchedJob"] | null;
            /** @description Why the next job could not be fetched, though the ack succeeded. */
            next_error?: components["schemas"]["NextError"];
            /** @description ok */
            status: string;
        };
        Agent: {
            /**
             * Format: int64
             * @description Current iteration.
             */
            iteration?: number;
            /** @description Time limit of one iteration. */
            iteration_timeout?: string;
            /** @description Maximum total cost in US dollars. */
            max_cost_usd?: number;
            /**
             * Format: int64
             * @description Maximum number of iterations.
             */
            max_iterations?: number;
            /** @description Total cost so far, in US dollars. */
            total_cost_usd?: number;
        };
        AuditEntry: {
            /**
             * Format: date-time
             * @description Time of the request.
             */
            created_at: string;
            /**
             * Format: int64
             * @description Sequence number of the entry.
             */
            id: number;
            /** @description Duration, query string, and number of earlier refusals that were not recorded. */
            metadata: {
                [key: string]: unknown;
            };
            /** @description HTTP method. */
            method: string;
            /** @description Namespace of the request. */
            namespace: string;
            /** @description Path of the request. */
            path: string;
            /** @description Caller of the request. */
            principal: string | null;
            /** @description Role of the caller. */
            role: string | null;
            /**
             * Format: int64
             * @description Status of the response.
             */
            status_code: number;
        };
        AuditLog: {
            /** @description Entries, newest first. */
            audit_logs: components["schemas"]["AuditEntry"][];
            /**
             * Format: int64
             * @description Maximum number of entries per page.
             */
            limit: number;
            /**
             * Format: int64
             * @description Number of entries skipped.
             */
            offset: number;
            /**
             * Format: int64
             * @description Number of matching entries.
             */
            total: number;
        };
        AuthStatus: {
            /** @description Whether an admin password is set. */
            admin_password_set: boolean;
            /** @description Whether the caller uses a session cookie. */
            by_session: boolean;
            /** @description Whether the caller can select another namespace with X-Corvo-Namespace. */
            chooses_namespace: boolean;
            /** @description Namespace of the caller. */
            namespace: string;
            /** @description Whether the server has neither a password nor a key. */
            open: boolean;
            /** @description Name of the authenticated caller. */
            principal: string;
            /** @description Queues that the caller may use. */
            queue_scope?: string;
            /** @description Role of the caller. */
            role?: string;
        };
        /** @enum {string} */
        Backoff: "none" | "fixed" | "linear" | "exponential";
        Backup: {
            /** @description Approval policies. */
            approval_policies: unknown[];
            /** @description Batches of these jobs. */
            batches: unknown[];
            /** @description Budgets, without amounts spent. */
            budgets: unknown[];
            /**
             * Format: date-time
             * @description Time when the backup was taken.
             */
            created_at: string;
            /** @description Jobs with their errors, iterations and usage. */
            jobs: unknown[];
            /** @description Format, number of jobs, checksum, and rows_left_out. */
            meta: {
                [key: string]: unknown;
            };
            /** @description Namespace of the backup. */
            namespace: string;
            /** @description Queues with their settings. */
            queues: unknown[];
            /** @description Schedules. */
            schedules: unknown[];
            /** @description Sums of usage per time bucket, also of jobs that are gone. */
            usage_sums: unknown[];
            /** @description Webhooks, with their secrets. */
            webhooks: unknown[];
        };
        Batch: {
            /** @description Payload of the callback job. */
            callback_payload?: unknown;
            /** @description Queue of the callback job, which is enqueued when all jobs have finished. */
            callback_queue?: string;
            /**
             * Format: date-time
             * @description Time when the batch was opened.
             */
            created_at: string;
            /**
             * Format: int64
             * @description Jobs that finished in another state.
             */
            failed: number;
            /** @description Batch ID. */
            id: string;
            /**
             * Format: int64
             * @description Jobs that have not finished.
             */
            pending: number;
            /** @description Whether the batch is closed to new jobs. */
            sealed: boolean;
            /**
             * Format: int64
             * @description Jobs that completed.
             */
            succeeded: number;
            /**
             * Format: int64
             * @description Jobs in the batch.
             */
            total: number;
        };
        BatchOpened: {
            /** @description ID of the new batch. */
            batch_id: string;
        };
        Beat: {
            /** @description Whether the reported usage exceeded the job's budget. */
            budget_exceeded?: boolean;
            /**
             * Format: date-time
             * @description Time when the lease ends, unless another heartbeat renews it.
             */
            lease_expires_at?: string;
            /** @description ok, or cancel if the worker should stop the job. */
            status: components["schemas"]["BeatStatus"];
        };
        Beats: {
            /** @description Jobs whose lease was renewed. */
            acked: string[];
            /** @description Jobs that the worker should stop. */
            canceled: string[];
            /** @description Results by job ID. */
            jobs: {
                [key: string]: components["schemas"]["Beat"];
            };
            /** @description Jobs that the server does not know. */
            unknown: string[];
        };
        /** @enum {string} */
        BeatStatus: "ok" | "cancel";
        Bill: {
            /**
             * Format: int64
             * @description Tokens written to the cache.
             */
            cache_creation_tokens: number;
            /**
             * Format: int64
             * @description Tokens read from the cache.
             */
            cache_read_tokens: number;
            /** @description Cost in US dollars. */
            cost_usd: number;
            /**
             * Format: int64
             * @description Input tokens.
             */
            input_tokens: number;
            /** @description Name of the namespace. */
            namespace: string;
            /**
             * Format: int64
             * @description Output tokens.
             */
            output_tokens: number;
            /**
             * Format: int64
             * @description Number of usage reports.
             */
            rows: number;
        };
        Billing: {
            /** @description Requested period. */
            period: string;
            /** @description Totals by namespace. */
            summary: components["schemas"]["Bill"][];
        };
        Bucket: {
            /**
             * Format: int64
             * @description Number of samples in this bucket: at most le, and above the previous bucket.
             */
            count: number;
            /** @description Duration, such as 1.5ms. */
            le: string;
        };
        Budget: {
            /**
             * Format: date-time
             * @description Time when the budget was first set.
             */
            created_at: string;
            /** @description Limit per day, in US dollars. */
            daily_usd?: number;
            /** @description Budget ID. It changes whenever the budget is set. */
            id: string;
            /** @description Namespace of the budget. Absent for the default namespace. */
            namespace?: string;
            /** @description Action when the limit is exceeded: hold, reject or alert_only. */
            on_exceed: string;
            /** @description Limit per job, in US dollars. */
            per_job_usd?: number;
            /** @description Scope: queue, tag or global. */
            scope: string;
            /** @description Queue name, tag, or *. */
            target: string;
        };
        /** @enum {string} */
        BulkAction: "retry" | "cancel" | "move" | "delete" | "change_priority" | "requeue" | "hold" | "approve" | "reject";
        BulkDone: {
            /**
             * Format: int64
             * @description Number of jobs changed.
             */
            affected: number;
            /**
             * Format: int64
             * @description Dry run only: number of jobs that would change.
             */
            applicable?: number;
            /** @description Whether this was a dry run. A dry run changes nothing. */
            dry_run?: boolean;
            /**
             * Format: int64
             * @description Duration in milliseconds.
             */
            duration_ms: number;
            /**
             * Format: int64
             * @description Number of jobs not changed.
             */
            errors: number;
            /**
             * Format: int64
             * @description Dry run only: number of matching jobs.
             */
            matched?: number;
        };
        BulkOperation: {
            /** @description Action applied to each job. */
            action: components["schemas"]["BulkTask"];
            /**
             * Format: int64
             * @description Number of jobs changed.
             */
            affected: number;
            /**
             * Format: date-time
             * @description Time when the operation was created.
             */
            created_at: string;
            /** @description Why the operation failed. */
            error?: string;
            /**
             * Format: int64
             * @description Number of jobs not changed.
             */
            errors: number;
            /**
             * Format: date-time
             * @description Time when the operation ended.
             */
            finished_at?: string;
            /** @description Operation ID. */
            id: string;
            /**
             * Format: int64
             * @description Number of jobs processed.
             */
            processed: number;
            /** @description Status of the operation. */
            status: components["schemas"]["BulkStatus"];
            /**
             * Format: int64
             * @description Number of jobs that the operation covers.
             */
            total: number;
            /**
             * Format: date-time
             * @description Time of the last progress.
             */
            updated_at?: string;
        };
        BulkStarted: {
            /** @description ID of the operation, which runs in the background. */
            bulk_operation_id: string;
            /**
             * Format: int64
             * @description Number of jobs that the operation covers.
             */
            estimated_total: number;
            /** @description URL of the progress event stream. */
            progress_url: string;
            /** @description Status of the operation. */
            status: components["schemas"]["BulkStatus"];
        };
        /** @enum {string} */
        BulkStatus: "queued" | "running" | "completed" | "failed" | "cancelled";
        /** @enum {string} */
        BulkTask: "retry" | "cancel" | "move" | "delete" | "change_priority" | "requeue" | "hold" | "approve" | "reject" | "clear_queue" | "delete_queue";
        CallbackJob: {
            /** @description Job ID. */
            id: string;
            /** @description Queue of the job. */
            queue: string;
            /** @description State of the job. */
            status: components["schemas"]["JobState"];
        };
        ChainConfig: {
            /** @description Jobs that must complete first. */
            depends_on?: string[];
            /** @description Step that always runs at the end, whether the chain succeeded or failed. */
            on_exit?: components["schemas"]["ChainStep"];
            /** @description "continue", or the step to run if a step fails. */
            on_failure?: unknown;
            /** @description Steps in the order in which they run. */
            steps?: components["schemas"]["ChainStep"][];
        };
        ChainStep: {
            /** @description Payload of the step's job. */
            payload?: unknown;
            /** @description Queue of the step's job. */
            queue: string;
        };
        CheckpointFetch: {
            /**
             * Format: int64
             * @description Bytes received so far.
             */
            bytes_done: number;
            /**
             * Format: int64
             * @description Size of the current or last checkpoint, in bytes.
             */
            bytes_total: number;
            /** @description Why the last fetch failed. */
            error?: string;
            /**
             * Format: int64
             * @description Number of checkpoints fetched.
             */
            fetched_total: number;
            /** @description Whether a checkpoint is being fetched. */
            running: boolean;
        };
        ClockAccepted: {
            /**
             * Format: int64
             * @description How far the system clock was ahead of the server's time, in milliseconds.
             */
            ahead_ms: number;
            /** @description ok */
            status: string;
            /**
             * Format: date-time
             * @description Current server time.
             */
            time: string;
        };
        ClusterNode: {
            /** @description Address for the other nodes. */
            address: string;
            /** @description Why the node is unreachable. */
            error?: string;
            /** @description URL of the API. */
            http_url?: string;
            /** @description Name of the node. */
            id: string;
            /**
             * Format: int64
             * @description Number of log entries that the node is missing. Reported by the leader only.
             */
            lag?: number;
            /**
             * Format: int64
             * @description Milliseconds since the answering node last heard from this node.
             */
            last_contact_ms?: number;
            /**
             * Format: int64
             * @description Last log entry that the node is known to have. Reported by the leader only.
             */
            match_index?: number;
            /** @description Raft ID, 16 hex digits. */
            raft_id: string;
            /** @description Role: Leader, Follower, Candidate, Standby, Spare or Joining. */
            role: string;
            /** @description Whether this is the node that answered the request. */
            self: boolean;
            /** @description Status: healthy, degraded, catching up, unreachable, unknown, leaving, differs, quarantined, removed or outdated. */
            status: string;
            /** @description Version of the server. */
            version?: string;
            /** @description Whether the node votes. */
            voter: boolean;
        };
        ClusterStatus: {
            /** @description Requests waiting and refused, and request memory. */
            admission_stats: {
                [key: string]: number;
            };
            /** @description Last log entry applied. */
            applied_index: string;
            /**
             * Format: int64
             * @description Number of operations applied.
             */
            applied_total: number;
            /**
             * Format: int64
             * @description Value of the setting. It has no effect.
             */
            apply_batch_extend_at: number;
            /**
             * Format: int64
             * @description Maximum number of operations per log entry.
             */
            apply_batch_max: number;
            /** @description Value of the setting, for example 100µs. It has no effect. */
            apply_batch_min_wait: string;
            /** @description Value of the setting, for example 8ms. It has no effect. */
            apply_batch_window: string;
            /**
             * Format: int64
             * @description Value of the setting raft-max-fetch-inflight. It has no effect.
             */
            apply_max_fetch_queue_inflight: number;
            /**
             * Format: int64
             * @description Maximum number of operations in progress.
             */
            apply_max_pending: number;
            /**
             * Format: int64
             * @description Number of operations in progress.
             */
            apply_pending_now: number;
            /**
             * Format: int64
             * @description Maximum number of operations applied at once.
             */
            apply_sub_batch_max: number;
            /** @description Time until a log entry is committed and applied. */
            apply_time_hist: components["schemas"]["Histogram"];
            /** @description Transfer of a checkpoint to this node. */
            checkpoint_fetch: components["schemas"]["CheckpointFetch"];
            /** @description Cluster ID, 16 hex digits. */
            cluster_id: string;
            /** @description Last log entry committed. */
            commit_index: string;
            /** @description Whether writes are flushed to disk before they are acknowledged. */
            durable: boolean;
            /**
             * Format: int64
             * @description Number of leader changes seen by this node.
             */
            elections: number;
            /**
             * Format: int64
             * @description Always 0: fetches have no limit of their own.
             */
            fetch_overload_total: number;
            /** @description Address of the leader for the other nodes. */
            leader_addr: string;
            /** @description Name of the leader. */
            leader_id: string;
            /** @description URL of the leader's API. */
            leader_url: string;
            /** @description Whether the event log is enabled. */
            lifecycle_events: boolean;
            /** @description cluster */
            mode: string;
            /** @description Node that answered the request. */
            node_id: string;
            /** @description Nodes of the cluster. */
            nodes: components["schemas"]["ClusterNode"][];
            /**
             * Format: int64
             * @description Operations refused because the write pipeline was full.
             */
            overload_total: number;
            /** @description Always true: the state is rebuilt from the log after a crash. */
            pebble_nosync: boolean;
            /** @description Counters of the write pipeline. */
            pipeline_stats: {
                [key: string]: number;
            };
            /** @description Whether this node is quarantined because its data differs from the majority. */
            quarantined: boolean;
            /** @description Time until an operation is written to a log entry. */
            queue_time_hist: components["schemas"]["Histogram"];
            /** @description Opposite of durable. */
            raft_nosync: boolean;
            /** @description Storage of the Raft log. */
            raft_store: string;
            /** @description Whether this node was removed from the cluster. */
            removed: boolean;
            /** @description Snapshots of the state. */
            snapshot: components["schemas"]["SnapshotInfo"];
            /** @description Value of the setting, for example 1m0s. It has no effect. */
            snapshot_interval: string;
            /**
             * Format: int64
             * @description Bytes of log between two snapshots.
             */
            snapshot_log_bytes: number;
            /**
             * Format: int64
             * @description Value of the setting. It has no effect: snapshots depend on snapshot_log_bytes.
             */
            snapshot_threshold: number;
            /** @description Disk space, and memory of the log. */
            space: components["schemas"]["Space"];
            /** @description State of the search index. */
            sqlite_mirror: components["schemas"]["Mirror"];
            /** @description Whether searches use the search index. */
            sqlite_mirror_async: boolean;
            /** @description Rebuilds of the search index. */
            sqlite_rebuild: components["schemas"]["MirrorRebuild"];
            /** @description Raft state: Leader, Follower, Candidate or Shutdown. */
            state: string;
            /** @description Hash of the state, compared between nodes. */
            state_hash: components["schemas"]["StateHash"];
            /** @description healthy, or degraded if there is no leader. */
            status: string;
            /**
             * Format: int64
             * @description Current Raft term.
             */
            term: number;
            /** @description What this node's version cannot read in the messages of the leader. */
            unreadable?: string;
        };
        DeleteAuthKeysRequest: {
            /** @description SHA-256 of the secret, in hex. */
            key_hash: string;
        };
        Dependency: {
            /** @description ID of a job that must complete first. */
            job_id: string;
            /** @description State of that job, or missing if it no longer exists. */
            state: string;
        };
        Enqueued: {
            /** @description The same job as an object, for newer clients. */
            job?: components["schemas"]["JobRef"];
            /** @description ID of the new job, or of the job that holds the unique key. */
            job_id: string;
            /** @description State of the new job, or duplicate. */
            status: components["schemas"]["EnqueueStatus"];
            /** @description Whether a job with this unique key already existed. */
            unique_existing: boolean;
            /** @description ID of the existing job. */
            unique_job_id?: string;
        };
        EnqueuedBatch: {
            /** @description Batch that the jobs belong to. Empty if there is none. */
            batch_id: string;
            /** @description Job IDs, in the order of the request. */
            job_ids: string[];
        };
        /** @enum {string} */
        EnqueueStatus: "pending" | "scheduled" | "duplicate";
        Error: {
            /**
             * @description Error code for programs.
             * @enum {string}
             */
            code: "PARSE_ERROR" | "VALIDATION_ERROR" | "ACK_ERROR" | "FAIL_ERROR" | "RETRY_ERROR" | "CANCEL_ERROR" | "MOVE_ERROR" | "HOLD_ERROR" | "APPROVE_ERROR" | "REJECT_ERROR" | "REPLAY_ERROR" | "QUEUE_ERROR" | "BULK_ERROR" | "BUDGET_ERROR" | "POLICY_ERROR" | "WEBHOOK_ERROR" | "AUTH_ERROR" | "SCHEDULE_ERROR" | "USAGE_SUMMARY_ERROR" | "JOIN_ERROR" | "UNAUTHORIZED" | "FORBIDDEN" | "OPEN_ACCESS_DISABLED" | "LICENSE_ERROR" | "NOT_FOUND" | "METHOD_NOT_ALLOWED" | "CONFLICT" | "SHARD_LEADER_CONFLICT" | "SHARD_COUNT_MISMATCH" | "PAYLOAD_TOO_LARGE" | "IDEMPOTENCY_KEY_REUSED" | "RATE_LIMITED" | "OVERLOADED" | "BUDGET_EXCEEDED" | "INTERNAL_ERROR" | "STORE_ERROR" | "SEARCH_ERROR" | "BACKUP_ERROR" | "BILLING_ERROR" | "SSE_UNSUPPORTED" | "UNSUPPORTED" | "UNHEALTHY" | "LEADER_UNAVAILABLE" | "FORWARD_LOOP" | "UNKNOWN_OUTCOME" | "LEADER_UNREACHABLE" | "QUOTA_EXCEEDED" | "REQUEST_TIMEOUT" | "URI_TOO_LONG" | "HEADERS_TOO_LARGE";
            /** @description Error message for people. */
            error: string;
            /** @description With OVERLOADED: milliseconds to wait before trying again. */
            retry_after_ms?: number;
            /** @description With CONFLICT: ID of the job that holds the unique key. */
            unique_job_id?: string;
        };
        ErrorExample: {
            /** @description Full error message. */
            error: string;
            /** @description ID of the job that failed most recently with this error. */
            job_id: string;
        };
        ErrorGroup: {
            /** @description Failures in 24 equal parts of the range. */
            chart: number[];
            /**
             * Format: int64
             * @description Failed attempts.
             */
            count: number;
            /**
             * Format: int64
             * @description Jobs with this error that are dead now.
             */
            dead: number;
            /** @description Most recent failure. */
            example: components["schemas"]["ErrorExample"];
            /** @description Identifies the group. Use it as error_fingerprint in a search or a bulk filter. */
            fingerprint: string;
            /**
             * Format: date-time
             * @description First failure in the range.
             */
            first_seen: string;
            /**
             * Format: int64
             * @description Jobs with this error.
             */
            jobs: number;
            /**
             * Format: date-time
             * @description Last failure in the range.
             */
            last_seen: string;
            /** @description First line of the error, with numbers, ids, addresses and paths replaced. */
            message: string;
            /** @description The five queues with the most failures. */
            queues: components["schemas"]["ErrorQueue"][];
            /** @description The five versions of workers with the most failures, if workers send their version. */
            versions?: components["schemas"]["ErrorVersion"][];
        };
        ErrorGroups: {
            /**
             * Format: date-time
             * @description Start of the range.
             */
            from: string;
            /** @description Groups, most frequent first. */
            groups: components["schemas"]["ErrorGroup"][];
            /**
             * Format: date-time
             * @description End of the range.
             */
            to: string;
            /**
             * Format: int64
             * @description Failed attempts in the range, in all groups.
             */
            total: number;
        };
        ErrorQueue: {
            /**
             * Format: int64
             * @description Failed attempts in the queue.
             */
            count: number;
            /** @description Name of the queue. */
            queue: string;
        };
        ErrorVersion: {
            /**
             * Format: int64
             * @description Failed attempts with this version.
             */
            count: number;
            /** @description Version of the worker's program. */
            version: string;
        };
        Event: {
            /**
             * Format: int64
             * @description Time in nanoseconds since 1970.
             */
            at_ns: number;
            /**
             * Format: date-time
             * @description Same time as at_ns.
             */
            created_at: string;
            /** @description Details that depend on the type. */
            data?: unknown;
            /**
             * Format: int64
             * @description Same as seq.
             */
            id: number;
            /** @description Job ID. */
            job_id?: string;
            /** @description Queue of the event. */
            queue?: string;
            /**
             * Format: int64
             * @description Sequence number. It increases with every event.
             */
            seq: number;
            /** @description Event type. Streams with format=message add the prefix job. */
            type: string;
        };
        Events: {
            /** @description Events, oldest first. */
            events: components["schemas"]["Event"][];
        };
        /** @enum {string} */
        EventType: "enqueued" | "started" | "completed" | "continued" | "held" | "approved" | "rejected" | "failed" | "progress" | "retrying" | "dead" | "cancelled" | "retried" | "moved" | "deleted" | "priority_changed" | "promoted" | "reclaimed" | "expired" | "queue.paused" | "queue.resumed" | "queue.cleared" | "queue.deleted" | "budget.exceeded";
        Failed: {
            /**
             * Format: int64
             * @description The attempt that failed.
             */
            attempt: number;
            /**
             * Format: int64
             * @description Attempts left.
             */
            attempts_remaining: number;
            /**
             * Format: date-time
             * @description Time of the next attempt.
             */
            next_attempt_at?: string;
            /** @description New state of the job. */
            status: components["schemas"]["JobState"];
        };
        FetchedJob: {
            /** @description Limits and progress of an agent job. */
            agent?: components["schemas"]["Agent"];
            /**
             * Format: int64
             * @description Number of this attempt, starting at 1.
             */
            attempt: number;
            /** @description Checkpoint of the previous attempt or iteration. */
            checkpoint?: unknown;
            /** @description Job ID. */
            job_id: string;
            /**
             * Format: int64
             * @description Length of the lease in seconds. A heartbeat renews it.
             */
            lease_duration: number;
            /**
             * Format: int64
             * @description Lease token. Send it with ack, fail and heartbeats.
             */
            lease_token: number;
            /**
             * Format: int64
             * @description Maximum number of attempts, including the first.
             */
            max_retries: number;
            /** @description Payload that the job was enqueued with. */
            payload: unknown;
            /** @description Queue of the job. */
            queue: string;
            /** @description Tags of the job. */
            tags?: {
                [key: string]: unknown;
            };
        };
        FetchedJobs: {
            /** @description Claimed jobs. Empty if no job arrived within the timeout. */
            jobs: components["schemas"]["FetchedJob"][];
        };
        Health: {
            /** @description Whether this node is the leader. */
            leader: boolean;
            /** @description Raft state of the node: Leader, Follower, Candidate or Shutdown. */
            raft_state: string;
            /** @description ok */
            status: string;
            /** @description Problems that need attention but do not stop the node. */
            warnings?: string[];
        };
        Histogram: {
            /** @description Duration, such as 1.5ms. */
            avg?: string;
            /** @description Samples by duration. */
            buckets?: components["schemas"]["Bucket"][];
            /**
             * Format: int64
             * @description Number of samples.
             */
            count: number;
            /** @description Duration, such as 1.5ms. */
            p50?: string;
            /** @description Duration, such as 1.5ms. */
            p90?: string;
            /** @description Duration, such as 1.5ms. */
            p99?: string;
        };
        History: {
            /**
             * Format: date-time
             * @description Start of the first step.
             */
            from: string;
            /** @description One per step, oldest first. */
            points: components["schemas"]["HistoryPoint"][];
            /** @description The queue, if one was named. */
            queue?: string;
            /**
             * Format: int64
             * @description Length of a step.
             */
            step_seconds: number;
            /**
             * Format: date-time
             * @description End of the last step.
             */
            to: string;
            /** @description Totals of the range. */
            totals: components["schemas"]["HistorySum"];
        };
        HistoryPoint: {
            /**
             * Format: date-time
             * @description Start of the step.
             */
            at: string;
            /**
             * Format: int64
             * @description Jobs cancelled.
             */
            cancelled?: number;
            /**
             * Format: int64
             * @description Jobs completed.
             */
            completed?: number;
            /**
             * Format: int64
             * @description Jobs that used up their attempts, were rejected or expired.
             */
            dead?: number;
            /**
             * Format: int64
             * @description Pending jobs at the end of the step.
             */
            depth?: number;
            /**
             * Format: int64
             * @description Largest number of pending jobs seen in the step.
             */
            depth_max?: number;
            /**
             * Format: int64
             * @description Jobs created.
             */
            enqueued?: number;
            /**
             * Format: int64
             * @description Jobs that expired.
             */
            expired?: number;
            /**
             * Format: int64
             * @description Attempts that failed or timed out.
             */
            failed?: number;
            /**
             * Format: int64
             * @description Greatest age of the oldest pending job in the step, since its creation. 0 if none was pending, or for a namespace.
             */
            oldest_ms?: number;
            /**
             * Format: int64
             * @description Failed attempts that will be tried again.
             */
            retried?: number;
            /** @description Time from fetch until completion or failure. */
            run?: components["schemas"]["Times"];
            /**
             * Format: int64
             * @description Attempts handed to a worker.
             */
            started?: number;
            /** @description Time from ready to run until a worker fetched the job. */
            wait?: components["schemas"]["Times"];
            /**
             * Format: int64
             * @description Known workers at the end of the step. Only if no queue is named.
             */
            workers?: number;
        };
        HistoryQueue: {
            /** @description Name of the queue. */
            queue: string;
            /** @description One per step, oldest first. */
            values: number[];
        };
        HistoryQueues: {
            /**
             * Format: date-time
             * @description Start of the first step.
             */
            from: string;
            /** @description The queues, in the order of the request. */
            queues: components["schemas"]["HistoryQueue"][];
            /**
             * Format: int64
             * @description Length of a step.
             */
            step_seconds: number;
            /**
             * Format: date-time
             * @description End of the last step.
             */
            to: string;
        };
        HistorySum: {
            /**
             * Format: int64
             * @description Jobs cancelled.
             */
            cancelled?: number;
            /**
             * Format: int64
             * @description Jobs completed.
             */
            completed?: number;
            /**
             * Format: int64
             * @description Jobs that used up their attempts, were rejected or expired.
             */
            dead?: number;
            /**
             * Format: int64
             * @description Pending jobs at the end of the step.
             */
            depth?: number;
            /**
             * Format: int64
             * @description Largest number of pending jobs seen in the step.
             */
            depth_max?: number;
            /**
             * Format: int64
             * @description Jobs created.
             */
            enqueued?: number;
            /**
             * Format: int64
             * @description Jobs that expired.
             */
            expired?: number;
            /**
             * Format: int64
             * @description Attempts that failed or timed out.
             */
            failed?: number;
            /**
             * Format: int64
             * @description Greatest age of the oldest pending job in the step, since its creation. 0 if none was pending, or for a namespace.
             */
            oldest_ms?: number;
            /**
             * Format: int64
             * @description Failed attempts that will be tried again.
             */
            retried?: number;
            /** @description Time from fetch until completion or failure. */
            run?: components["schemas"]["Times"];
            /**
             * Format: int64
             * @description Attempts handed to a worker.
             */
            started?: number;
            /** @description Time from ready to run until a worker fetched the job. */
            wait?: components["schemas"]["Times"];
            /**
             * Format: int64
             * @description Known workers at the end of the step. Only if no queue is named.
             */
            workers?: number;
        };
        Holder: {
            /** @description Host name of the worker. */
            hostname?: string;
            /** @description ID of an active job. */
            job_id: string;
            /**
             * Format: date-time
             * @description Time when the lease ends, unless it is renewed.
             */
            lease_expires_at?: string;
            /**
             * Format: date-time
             * @description Time when the attempt started.
             */
            started_at?: string;
            /** @description Worker that runs the job. */
            worker_id?: string;
        };
        Info: {
            /** @description Version of this API. */
            api_version: string;
            /** @description Version of the server. */
            server_version: string;
            /** @description Sign-in URL for browsers, if an identity provider is configured. */
            sso_login_url?: string;
        };
        Iteration: {
            /**
             * Format: int64
             * @description Tokens written to the cache.
             */
            cache_creation_tokens?: number;
            /**
             * Format: int64
             * @description Tokens read from the cache.
             */
            cache_read_tokens?: number;
            /** @description Checkpoint for the next iteration. */
            checkpoint?: unknown;
            /** @description Cost in US dollars. */
            cost_usd?: number;
            /**
             * Format: date-time
             * @description End of the iteration.
             */
            created_at: string;
            /** @description Why the job was held for review. */
            hold_reason?: string;
            /**
             * Format: int64
             * @description Sequence number of the entry within the job.
             */
            id: number;
            /**
             * Format: int64
             * @description Input tokens.
             */
            input_tokens?: number;
            /**
             * Format: int64
             * @description Iteration number, starting at 1.
             */
            iteration: number;
            /** @description Job ID. */
            job_id: string;
            /** @description Model name. */
            model?: string;
            /**
             * Format: int64
             * @description Output tokens.
             */
            output_tokens?: number;
            /** @description Provider of the model. */
            provider?: string;
            /** @description Result of the iteration. */
            result?: unknown;
            /** @description Outcome of the iteration. */
            status: components["schemas"]["IterationStatus"];
        };
        Iterations: {
            /** @description Iterations, oldest first. */
            iterations: components["schemas"]["Iteration"][];
        };
        /** @enum {string} */
        IterationStatus: "continue" | "done" | "hold";
        Job: {
            /** @description Limits and progress of an agent job. */
            agent?: components["schemas"]["Agent"];
            /**
             * Format: int64
             * @description Number of attempts started so far.
             */
            attempt: number;
            /** @description Batch that the job belongs to. */
            batch_id?: string;
            /** @description Why the job was cancelled. */
            cancel_reason?: string;
            /**
             * Format: date-time
             * @description Time when the job was cancelled.
             */
            cancelled_at?: string;
            /** @description Chain definition: a ChainConfig, or the client's own value. */
            chain_config?: unknown;
            /** @description Chain that the job belongs to. */
            chain_id?: string;
            /**
             * Format: int64
             * @description Position in the chain, starting at 0.
             */
            chain_step?: number;
            /** @description Checkpoint saved by the worker for the next attempt. */
            checkpoint?: unknown;
            /**
             * Format: date-time
             * @description Time when the job completed.
             */
            completed_at?: string;
            /**
             * Format: date-time
             * @description Time when the job was enqueued.
             */
            created_at: string;
            /** @description Cron expression of a recurring delivery. */
            cron?: string;
            /**
             * Format: date-time
             * @description Last time at which a recurring delivery may run.
             */
            cron_until?: string;
            /**
             * Format: date-time
             * @description Due time of the delivery.
             */
            due_at?: string;
            /** @description Failures, oldest first. */
            errors?: components["schemas"]["JobError"][];
            /**
             * Format: date-time
             * @description The job expires if it has not started by this time.
             */
            expire_at?: string;
            /**
             * Format: date-time
             * @description Time of the last failure.
             */
            failed_at?: string;
            /** @description Why the job is held. */
            hold_reason?: string;
            /** @description Host name of the worker. */
            hostname?: string;
            /** @description Job ID. */
            id: string;
            /** @description Outcome of the last delivery. */
            last_outcome?: string;
            /**
             * Format: date-time
             * @description Time when the lease ends.
             */
            lease_expires_at?: string;
            /**
             * Format: int64
             * @description Maximum number of attempts, including the first.
             */
            max_retries: number;
            /** @description Name given by the client. */
            name?: string;
            /** @description Job that this job follows. */
            parent_id?: string;
            /** @description Payload that the job was enqueued with. */
            payload: unknown;
            /**
             * Format: int64
             * @description Priority: 0 critical, 1 high, 2 normal. With X-Corvo-Api: 2: 100, 75, 50.
             */
            priority: number;
            /** @description Progress reported by the worker: a Progress object, or any other value. */
            progress?: unknown;
            /** @description Target URL of a job that the server delivers. */
            push?: components["schemas"]["Push"];
            /** @description Delivery attempts, oldest first. */
            push_attempts?: components["schemas"]["PushAttempt"][];
            /** @description Queue of the job. */
            queue: string;
            /** @description Result of the job. */
            result?: unknown;
            /** @description How the delay between attempts grows. */
            retry_backoff: components["schemas"]["Backoff"];
            /**
             * Format: int64
             * @description First retry delay, in milliseconds.
             */
            retry_base_delay_ms: number;
            /**
             * Format: int64
             * @description Maximum retry delay, in milliseconds.
             */
            retry_max_delay_ms: number;
            /** @description Schedule that created the job. */
            schedule_id?: string;
            /**
             * Format: date-time
             * @description The job does not start before this time.
             */
            scheduled_at?: string;
            /**
             * Format: date-time
             * @description Time when the last attempt started.
             */
            started_at?: string;
            /** @description State of the job. */
            state: components["schemas"]["JobState"];
            /** @description Tags of the job. */
            tags?: {
                [key: string]: unknown;
            };
            /** @description Unique key. While it is held, no second job with the same key is created. */
            unique_key?: string;
            /**
             * Format: int64
             * @description How long the unique key is held, in seconds.
             */
            unique_period?: number;
            /** @description Worker that runs the job, or ran it last. */
            worker_id?: string;
        };
        JobError: {
            /**
             * Format: int64
             * @description The attempt that failed.
             */
            attempt: number;
            /** @description Stack trace reported by the worker. */
            backtrace?: string;
            /**
             * Format: date-time
             * @description Time of the failure.
             */
            created_at: string;
            /** @description Error message reported by the worker. */
            error: string;
            /**
             * Format: int64
             * @description Sequence number of the entry within the job.
             */
            id: number;
            /** @description Job ID. */
            job_id: string;
            /** @description Version of the worker's program, if the worker sent one. */
            worker_version?: string;
        };
        JobExplanation: {
            /**
             * Format: date-time
             * @description The job expires if it has not started by this time.
             */
            expire_at?: string;
            /** @description Job ID. */
            job_id: string;
            /** @description Position in the queue. */
            position?: components["schemas"]["Position"];
            /** @description Queue of the job. */
            queue: string;
            /** @description Why the job is not running. */
            reasons: components["schemas"]["Reason"][];
            /** @description Whether a worker could fetch the job now. */
            runnable: boolean;
            /** @description State of the job. */
            state: components["schemas"]["JobState"];
        };
        JobRef: {
            /** @description Job ID. */
            id: string;
            /** @description Queue of the job. */
            queue: string;
            /** @description State of the new job, or duplicate. */
            status: components["schemas"]["EnqueueStatus"];
        };
        Jobs: {
            /** @description Jobs that exist, in the order of the request. */
            jobs: components["schemas"]["Job"][];
        };
        /** @enum {string} */
        JobState: "pending" | "active" | "completed" | "retrying" | "dead" | "cancelled" | "scheduled" | "held";
        JobSummary: {
            /** @description Limits and progress of an agent job. */
            agent?: components["schemas"]["Agent"];
            /**
             * Format: int64
             * @description Number of attempts started so far.
             */
            attempt: number;
            /** @description Batch that the job belongs to. */
            batch_id?: string;
            /** @description Chain that the job belongs to. */
            chain_id?: string;
            /**
             * Format: int64
             * @description Position in the chain, starting at 0.
             */
            chain_step?: number;
            /**
             * Format: date-time
             * @description Time when the job completed.
             */
            completed_at?: string;
            /**
             * Format: date-time
             * @description Time when the job was enqueued.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The job expires if it has not started by this time.
             */
            expire_at?: string;
            /**
             * Format: date-time
             * @description Time of the last failure.
             */
            failed_at?: string;
            /** @description Why the job is held. */
            hold_reason?: string;
            /** @description Job ID. */
            id: string;
            /** @description Error message of the last failure. */
            last_error?: string;
            /**
             * Format: int64
             * @description Maximum number of attempts, including the first.
             */
            max_retries: number;
            /** @description Job that this job follows. */
            parent_id?: string;
            /** @description Payload that the job was enqueued with. */
            payload: unknown;
            /**
             * Format: int64
             * @description Priority: 0 critical, 1 high, 2 normal. With X-Corvo-Api: 2: 100, 75, 50.
             */
            priority: number;
            /** @description Progress reported by the worker: a Progress object, or any other value. */
            progress?: unknown;
            /** @description Queue of the job. */
            queue: string;
            /**
             * Format: date-time
             * @description The job does not start before this time.
             */
            scheduled_at?: string;
            /**
             * Format: date-time
             * @description Time when the last attempt started.
             */
            started_at?: string;
            /** @description State of the job. */
            state: components["schemas"]["JobState"];
            /** @description Tags of the job. */
            tags?: {
                [key: string]: unknown;
            };
            /** @description Unique key. While it is held, no second job with the same key is created. */
            unique_key?: string;
            /** @description Worker that runs the job, or ran it last. */
            worker_id?: string;
        };
        Joined: {
            /** @description Whether the node was added. False if it was already a member. */
            added: boolean;
            /** @description Address for the other nodes. */
            addr: string;
            /** @description Cluster ID, 16 hex digits. */
            cluster_id: string;
            /** @description Name of the node. */
            node_id: string;
            /** @description ok */
            status: string;
        };
        Key: {
            /**
             * Format: date-time
             * @description Time when the key was created.
             */
            created_at: string;
            /** @description Whether the key is accepted. */
            enabled: boolean;
            /**
             * Format: date-time
             * @description Time when the key expires.
             */
            expires_at?: string;
            /** @description SHA-256 of the secret, in hex. Identifies the key. */
            key_hash: string;
            /**
             * Format: date-time
             * @description Time of last use, accurate to a minute.
             */
            last_used_at?: string;
            /** @description Name of the key. */
            name: string;
            /** @description Namespace of the key. */
            namespace: string;
            /** @description Queues that the key may use. */
            queue_scope?: string;
            /** @description Role of the key. */
            role: string;
        };
        KeyMade: {
            /** @description Secret of the key. It is shown only once. */
            api_key: string;
            /** @description SHA-256 of the secret, in hex. Identifies the key. */
            key_hash: string;
            /** @description For the first key: how access to the server changes. */
            note?: string;
            /**
             * Format: date-time
             * @description Time until which the old key keeps working.
             */
            old_expires_at?: string;
            /** @description ok */
            status: string;
        };
        KeyRoles: {
            /** @description SHA-256 of the key's secret, in hex. */
            key_hash: string;
            /** @description Custom roles of the key. */
            roles: string[];
        };
        Marker: {
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /** @description Who added it. */
            by?: string;
            /** @description Identifies the marker. */
            id: string;
            /** @description deploy: added by a user or program. server, worker: a version that was seen for the first time. */
            kind: string;
            /** @description Queue that the marker is about. Absent for all queues. */
            queue?: string;
            /** @description What happened. For server and worker: the version. */
            text: string;
        };
        Member: {
            /**
             * Format: date-time
             * @description Time when the member was added.
             */
            created_at: string;
            /** @description Email address. */
            email?: string;
            /** @description Member ID. */
            id: string;
            /** @description Name of the member. */
            name: string;
            /** @description Role: owner, admin or member. */
            role: string;
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
             * @description Failed attempts.
             */
            failed: number;
            /**
             * Format: date-time
             * @description Start of the minute.
             */
            minute: string;
        };
        Mirror: {
            /**
             * Format: int64
             * @description Number of changes applied to the index.
             */
            applied: number;
            /** @description Whether the index is updated in the background. */
            async: boolean;
            /**
             * Format: int64
             * @description Always 0: no change is dropped.
             */
            dropped: number;
            /**
             * Format: int64
             * @description Number of changes not applied yet.
             */
            lag: number;
            /** @description Whether updates are paused because the disk is nearly full. */
            low_space: boolean;
            /**
             * Format: int64
             * @description Nominal capacity. There is no such limit.
             */
            queue_capacity: number;
            /**
             * Format: int64
             * @description Same as lag.
             */
            queue_depth: number;
            /**
             * Format: int64
             * @description Number of changes passed to the index.
             */
            queued: number;
        };
        MirrorRebuild: {
            /**
             * Format: int64
             * @description Duration of the last rebuild, in milliseconds.
             */
            last_duration_ms?: number;
            /** @description Why the last rebuild failed. */
            last_error?: string;
            /**
             * Format: date-time
             * @description Start of the last rebuild.
             */
            last_started_at?: string;
            /** @description Whether the last rebuild succeeded. */
            last_success?: boolean;
            /** @description Whether the index has been rebuilt since the start. */
            ran: boolean;
            /** @description Whether a rebuild is running. */
            running: boolean;
        };
        Namespace: {
            /**
             * Format: date-time
             * @description Time when the namespace was registered.
             */
            created_at?: string;
            /** @description Name of the namespace. */
            name: string;
            /** @description Request limits that differ from the defaults. */
            rate_limit?: {
                [key: string]: number;
            };
        };
        NamespaceLimits: {
            /** @description Reads in a burst. */
            read_burst?: number;
            /** @description Reads per second and client. */
            read_rps?: number;
            /** @description Whether the namespace uses the default limits. */
            using_defaults: boolean;
            /** @description Writes in a burst. */
            write_burst?: number;
            /** @description Writes per second and client. */
            write_rps?: number;
        };
        NamespaceMade: {
            /** @description Name of the namespace. */
            name: string;
            /** @description created */
            status: string;
        };
        NamespaceQuota: {
            /** @description Unfinished jobs. */
            jobs: components["schemas"]["QuotaLine"];
            /** @description Payload bytes of those jobs. */
            payload_bytes: components["schemas"]["QuotaLine"];
            /** @description Queues. */
            queues: components["schemas"]["QuotaLine"];
        };
        NextError: {
            /** @description Error code, as in error responses. */
            code: string;
            /** @description Error message. */
            error: string;
        };
        NodeHistory: {
            /**
             * Format: date-time
             * @description Start of the first step.
             */
            from: string;
            /** @description The node that answers. */
            node_id: string;
            /** @description One per step, oldest first. */
            points: components["schemas"]["NodePoint"][];
            /**
             * Format: int64
             * @description Length of a step.
             */
            step_seconds: number;
            /**
             * Format: date-time
             * @description End of the last step.
             */
            to: string;
        };
        NodePoint: {
            /**
             * Format: date-time
             * @description Start of the step.
             */
            at: string;
            /**
             * Format: int64
             * @description The longest flush.
             */
            flush_max_us: number;
            /**
             * Format: int64
             * @description Mean time of a flush, in microseconds.
             */
            flush_mean_us: number;
            /**
             * Format: int64
             * @description Flushes of the log.
             */
            flushes: number;
            /**
             * Format: int64
             * @description Greatest lag behind the leader. 0 on the leader.
             */
            lag_ms: number;
            /**
             * Format: int64
             * @description Mean time from proposing an entry until it was committed and applied, in microseconds.
             */
            write_mean_us: number;
            /**
             * Format: int64
             * @description Half of the entries took at most this long. Bounds of a histogram.
             */
            write_p50_us: number;
            /**
             * Format: int64
             * @description 99 % of the entries took at most this long.
             */
            write_p99_us: number;
            /**
             * Format: int64
             * @description Log entries that this node proposed.
             */
            writes: number;
        };
        Organisation: {
            /**
             * Format: date-time
             * @description Time when the organization was created.
             */
            created_at: string;
            /** @description org_default */
            id: string;
            /** @description Name of the organization. */
            name: string;
        };
        OrganisationKey: {
            /**
             * Format: date-time
             * @description Time when the key was created.
             */
            created_at: string;
            /** @description Key ID. */
            id: string;
            /** @description Name of the key. */
            name: string;
            /** @description First characters of the secret. */
            prefix: string;
        };
        OrganisationSecret: {
            /**
             * Format: date-time
             * @description Time when the key was created.
             */
            created_at: string;
            /** @description Key ID. */
            id: string;
            /** @description Secret of the key. It is shown only once. */
            key: string;
            /** @description Name of the key. */
            name: string;
            /** @description For the first key: how access to the server changes. */
            note?: string;
            /** @description First characters of the secret. */
            prefix: string;
        };
        Permission: {
            /** @description Allowed actions. */
            actions: string[];
            /** @description First path segment after /api/v1 that the permission covers. */
            resource: string;
        };
        Permissions: {
            /** @description Operations that the caller may not use. Empty for an administrator. */
            refused: components["schemas"]["Refusal"][];
            /** @description Role of the caller. */
            role?: string;
        };
        Policy: {
            /** @description Whether the policy applies to jobs of every namespace. */
            all_namespaces: boolean;
            /**
             * Format: date-time
             * @description Time when the policy was created.
             */
            created_at: string;
            /** @description Whether the policy is enabled. */
            enabled: boolean;
            /** @description Policy ID. */
            id: string;
            /** @description Whether any or all of the checks must match. */
            mode: string;
            /** @description Name of the policy. */
            name: string;
            /** @description Check: queue of the job. */
            queue?: string;
            /** @description Check: tag of the job. */
            tag_key?: string;
            /** @description Check: value of the tag tag_key. */
            tag_value?: string;
        };
        Position: {
            /**
             * Format: int64
             * @description Number of jobs ahead in the queue.
             */
            ahead: number;
            /** @description Whether counting stopped early, so that there may be more jobs ahead. */
            at_least: boolean;
        };
        PostAckBatchRequest: {
            /** @description Jobs to acknowledge. */
            acks: components["schemas"]["PostAckBatchRequestAcks"][];
            /** @description Fetches the next jobs in the same request, with the fields of fetch/batch. */
            next?: components["schemas"]["PostAckBatchRequestNext"];
        };
        PostAckBatchRequestAcks: {
            /**
             * @description done completes the job. hold waits for approval first.
             * @enum {string}
             */
            ack_status?: "done" | "hold";
            /**
             * @description Agent jobs: outcome of the iteration.
             * @enum {string}
             */
            agent_status?: "continue" | "done" | "hold";
            /** @description New checkpoint. */
            checkpoint?: unknown;
            /** @description Reason, passed to the chain's on_exit step. Longer text is truncated. */
            exit_reason?: string;
            /** @description Reason for the hold. Longer text is truncated. */
            hold_reason?: string;
            /** @description Job ID. Longer text is truncated. */
            job_id: string;
            /**
             * Format: int64
             * @description Lease token of the fetch. Refused if another worker has the job by now.
             */
            lease_token?: number;
            /** @description Result, stored with the job. null is a distinct value. */
            result?: unknown;
            /**
             * @description Chains: whether the chain continues.
             * @enum {string}
             */
            step_status?: "continue" | "exit";
            /** @description Token usage and cost. */
            usage?: components["schemas"]["PostAckBatchRequestAcksUsage"];
        };
        PostAckBatchRequestAcksUsage: {
            /**
             * Format: int64
             * @description Tokens written to the cache.
             */
            cache_creation_tokens?: number;
            /**
             * Format: int64
             * @description Tokens read from the cache.
             */
            cache_read_tokens?: number;
            /**
             * Format: double
             * @description Dollars.
             */
            cost_usd?: number;
            /**
             * Format: int64
             * @description Input tokens.
             */
            input_tokens?: number;
            /** @description Model. */
            model?: string;
            /**
             * Format: int64
             * @description Output tokens.
             */
            output_tokens?: number;
            /** @description Provider. */
            provider?: string;
        };
        PostAckBatchRequestNext: {
            /**
             * Format: int64
             * @description Maximum number of jobs, at most 512.
             * @default 1
             */
            count?: number;
            /** @description Host name of the worker. */
            hostname?: string;
            /**
             * Format: int64
             * @description Length of the lease in seconds. A heartbeat renews it. Default: 60, or timeout if that is longer.
             */
            lease_duration?: number;
            /** @description Queues to fetch from, in this order. */
            queues: string[];
            /**
             * Format: int64
             * @description Seconds to wait for a job, at most 60. By default the request does not wait. The jobs are acknowledged before the wait.
             */
            timeout?: number;
            /** @description Version of the worker's program. Default: the X-Corvo-Client-Version header. */
            version?: string;
            /** @description ID of the worker. Registers the worker. */
            worker_id?: string;
        };
        PostAckByJobIdRequest: {
            /**
             * @description done completes the job. hold waits for approval first.
             * @enum {string}
             */
            ack_status?: "done" | "hold";
            /**
             * @description Agent jobs: outcome of the iteration.
             * @enum {string}
             */
            agent_status?: "continue" | "done" | "hold";
            /** @description New checkpoint. */
            checkpoint?: unknown;
            /** @description Reason, passed to the chain's on_exit step. Longer text is truncated. */
            exit_reason?: string;
            /** @description Reason for the hold. Longer text is truncated. */
            hold_reason?: string;
            /**
             * Format: int64
             * @description Lease token of the fetch. Refused if another worker has the job by now.
             */
            lease_token?: number;
            /** @description Fetches the next job in the same request, with the fields of a fetch. If the ack is refused, no job is fetched. */
            next?: components["schemas"]["PostAckByJobIdRequestNext"];
            /** @description Result, stored with the job. null is a distinct value. */
            result?: unknown;
            /**
             * @description Chains: whether the chain continues.
             * @enum {string}
             */
            step_status?: "continue" | "exit";
            /** @description Token usage and cost. */
            usage?: components["schemas"]["PostAckBatchRequestAcksUsage"];
        };
        PostAckByJobIdRequestNext: {
            /** @description Host name of the worker. */
            hostname?: string;
            /**
             * Format: int64
             * @description Length of the lease in seconds. A heartbeat renews it. Default: 60, or timeout if that is longer.
             */
            lease_duration?: number;
            /** @description Queues to fetch from, in this order. */
            queues: string[];
            /**
             * Format: int64
             * @description Seconds to wait for a job, at most 60. By default the request does not wait. The jobs are acknowledged before the wait.
             */
            timeout?: number;
            /** @description Version of the worker's program. Default: the X-Corvo-Client-Version header. */
            version?: string;
            /** @description ID of the worker. Registers the worker. */
            worker_id?: string;
        };
        PostAdminRestoreRequest: {
            /** @description Jobs of the backup. The other members are those of a backup. */
            jobs: {
                [key: string]: unknown;
            }[];
        };
        PostApprovalPoliciesRequest: {
            /** @description Apply to jobs of every namespace. Requires an admin of the default namespace. */
            all_namespaces?: boolean;
            /**
             * @description Whether the policy is enabled.
             * @default true
             */
            enabled?: boolean;
            /**
             * @description any: one check must match. all: every check must match.
             * @enum {string}
             */
            mode?: "any" | "all";
            /** @description Name of the policy, shown to the approver. Control characters are not allowed. */
            name: string;
            /** @description Check: queue of the job. Control characters are not allowed. */
            queue?: string;
            /** @description Check: tag of the job. */
            tag_key?: string;
            /** @description Check: value of the tag tag_key. A missing tag counts as empty. */
            tag_value?: string;
        };
        PostAuthKeysByKeyHashRolesRequest: {
            /** @description Name of a custom role. It does not have to exist yet. Control characters are not allowed. */
            role: string;
        };
        PostAuthKeysByKeyHashRotateRequest: {
            /**
             * @description How long the old secret keeps working.
             * @default 24h0m0s
             * @example 1m30s
             */
            overlap?: string;
        };
        PostAuthKeysRequest: {
            /**
             * @description Whether the key is accepted.
             * @default true
             */
            enabled?: boolean;
            /** @description Expiry time. Left out: the key never expires. */
            expires_at?: string;
            /** @description Secret of your choice; generated if left out. The secret of an existing key changes that key. Control characters are not allowed. */
            key?: string;
            /** @description Name of the key. Control characters are not allowed. */
            name: string;
            /** @description Namespace of the key. With *, the caller chooses the namespace. */
            namespace?: string;
            /** @description Comma-separated patterns of queues that the key may use. Empty: all queues. Control characters are not allowed. */
            queue_scope?: string;
            /**
             * @description Role: admin, operator, worker, readonly, or the name of a custom role. Control characters are not allowed.
             * @default readonly
             */
            role?: string;
        };
        PostAuthRolesRequest: {
            /** @description Name of the role. An existing role is replaced. Control characters are not allowed. */
            name: string;
            /** @description Permissions of the role. */
            permissions: components["schemas"]["PostAuthRolesRequestPermissions"][];
        };
        PostAuthRolesRequestPermissions: {
            /** @description Actions: read, write, delete, pause, resume, drain, clear, retry, cancel, approve, reject, hold, move, replay or *. write includes everything except read. */
            actions?: string[];
            /** @description First path segment after /api/v1. A trailing * matches any ending; * alone matches everything. Control characters are not allowed. */
            resource: string;
        };
        PostAuthSessionRequest: {
            /** @description An API key or the admin password. */
            credential: string;
        };
        PostBudgetsRequest: {
            /**
             * Format: double
             * @description Limit per day (from 00:00 UTC), in US dollars.
             */
            daily_usd?: number;
            /**
             * @description Action when the limit is exceeded.
             * @enum {string}
             */
            on_exceed?: "hold" | "reject" | "alert_only";
            /**
             * Format: double
             * @description Limit per job, in US dollars.
             */
            per_job_usd?: number;
            /**
             * @description What the budget applies to.
             * @enum {string}
             */
            scope: "queue" | "tag" | "global";
            /** @description Queue name, tag as key:value or key=value, or * for global. Control characters are not allowed. */
            target?: string;
        };
        PostClusterAuditRequest: {
            /**
             * Format: int64
             * @description How long the request took.
             */
            duration_ms?: number;
            /** @description Method of the request. */
            method?: string;
            /** @description Namespace of the request. */
            ns?: string;
            /** @description Path of the request. */
            path?: string;
            /** @description The caller, if known. */
            principal?: string;
            /** @description Query of the request. */
            query?: string;
            /** @description Role of the caller. */
            role?: string;
            /**
             * Format: int64
             * @description Status of the response.
             */
            status?: number;
            /**
             * Format: int64
             * @description Refused requests before this one that have no entry.
             */
            suppressed?: number;
        };
        PostClusterJoinRequest: {
            /** @description Address for the other nodes. */
            addr: string;
            /** @description URL of the node's API. */
            http_url?: string;
            /** @description Name of the node. */
            node_id: string;
            /** @description Raft ID of the node, 16 hex digits. A node started with --join sends it automatically. Without it, the node must wait at addr: started with --bootstrap=false, without --join. */
            raft_id?: string;
            /**
             * Format: int64
             * @description Shard to join.
             */
            shard?: number;
            /**
             * Format: int64
             * @description Number of shards of the node.
             */
            shard_count?: number;
            /** @description Version of the server. */
            version?: string;
            /**
             * @description Whether the node votes. A non-voting node only follows.
             * @default true
             */
            voter?: boolean;
        };
        PostClusterLeaveRequest: {
            /** @description Name of the node to remove. The node that receives the request by default. */
            node_id?: string;
        };
        PostClusterTransferRequest: {
            /** @description Name of the new leader. The most up-to-date voter by default. */
            node_id?: string;
        };
        PostEnqueueBatchRequest: {
            /** @description Makes the jobs a batch. */
            batch?: components["schemas"]["PostEnqueueRequestBatch"];
            /** @description Must be empty. Jobs that join an open batch each have their own batch_id. */
            batch_id?: string;
            /** @description Jobs to create. Either all of them are created or none. */
            jobs: components["schemas"]["PostEnqueueRequestJobs"][];
        };
        PostEnqueueRequest: {
            /** @description Makes the job an agent job with these limits. */
            agent?: components["schemas"]["PostEnqueueRequestAgent"];
            /** @description Makes the list a batch. */
            batch?: components["schemas"]["PostEnqueueRequestBatch"];
            /** @description Open batch that the job joins. */
            batch_id?: string;
            /** @description Chain of jobs that run one after another. */
            chain?: components["schemas"]["PostEnqueueRequestChain"];
            /** @description Chain definition, for clients that build chains themselves. */
            chain_config?: {
                [key: string]: unknown;
            };
            /** @description Chain ID, for clients that build chains themselves. */
            chain_id?: string;
            /**
             * Format: int64
             * @description Position in the chain, for clients that build chains themselves.
             */
            chain_step?: number;
            /** @description Checkpoint passed to the worker with the first fetch. */
            checkpoint?: unknown;
            /** @description IDs of jobs that must complete first. */
            depends_on?: string[];
            /**
             * @description The job expires if it has not started within this duration.
             * @example 1m30s
             */
            expire_after?: string;
            /**
             * Format: int64
             * @description expire_after in milliseconds. Set only one of the two.
             */
            expire_after_ms?: number;
            /** @description Reserved. Must be empty. */
            group?: string;
            /** @description List of jobs, as for enqueue/batch. Instead of a single job. */
            jobs?: components["schemas"]["PostEnqueueRequestJobs"][];
            /**
             * Format: int64
             * @description Maximum number of attempts, including the first.
             * @default 3
             */
            max_retries?: number;
            /** @description ID of a parent job. Informational. */
            parent_id?: string;
            /** @description Payload: any JSON value. null is a distinct value. */
            payload?: unknown;
            /**
             * @description Priority: critical, high or normal.
             * @default normal
             */
            priority?: ("critical" | "high" | "normal") | (0 | 1 | 2);
            /** @description Target URL. The server delivers the job; workers do not get it. */
            push?: components["schemas"]["PostEnqueueRequestChainStepsPush"];
            /** @description Queue of the job. Control characters are not allowed. */
            queue: string;
            /**
             * @description How the delay between attempts grows: none, fixed, linear or exponential.
             * @default exponential
             * @enum {string}
             */
            retry_backoff?: "none" | "fixed" | "linear" | "exponential";
            /**
             * @description Base delay between attempts, as a duration.
             * @default 5s
             * @example 1m30s
             */
            retry_base_delay?: string;
            /**
             * Format: int64
             * @description retry_base_delay in milliseconds. Set only one of the two.
             */
            retry_base_delay_ms?: number;
            /**
             * @description Maximum delay between attempts, as a duration. 0s: no maximum.
             * @default 10m0s
             * @example 1m30s
             */
            retry_max_delay?: string;
            /**
             * Format: int64
             * @description retry_max_delay in milliseconds. Set only one of the two.
             */
            retry_max_delay_ms?: number;
            /**
             * Format: date-time
             * @description The job does not start before this time.
             */
            scheduled_at?: string;
            /** @description Tags: an object, usually with string values. */
            tags?: {
                [key: string]: unknown;
            };
            /** @description Unique key. While a job holds it, no second job with the same key is created. */
            unique_key?: string;
            /**
             * Format: int64
             * @description How long the key is held, in seconds.
             */
            unique_period?: number;
        };
        PostEnqueueRequestAgent: {
            /** @description Time limit of one iteration, as a duration. */
            iteration_timeout?: string;
            /**
             * Format: double
             * @description Maximum cost in US dollars; then the job is held. 0 or less: no limit.
             */
            max_cost_usd?: number;
            /**
             * Format: int64
             * @description Maximum number of iterations; then the job is held. 0 or less: no limit.
             */
            max_iterations?: number;
        };
        PostEnqueueRequestBatch: {
            /** @description Payload of the callback job. null is a distinct value. */
            callback_payload?: unknown;
            /** @description Queue of the callback job, which is enqueued when all jobs have finished. Control characters are not allowed. */
            callback_queue?: string;
        };
        PostEnqueueRequestChain: {
            /** @description Step that always runs at the end. */
            on_exit?: components["schemas"]["PostEnqueueRequestChainSteps"];
            /** @description Step to run if a step fails, its queue, "stop" or "continue". */
            on_failure?: string | {
                [key: string]: unknown;
            };
            /** @description Steps in order. The first step is this job. */
            steps: components["schemas"]["PostEnqueueRequestChainSteps"][];
        };
        PostEnqueueRequestChainSteps: {
            /** @description Object that is merged into the payload of the step's job. That of the first step is the payload of the chain's first job if the request has none. */
            payload?: unknown;
            /** @description Target URL if the server delivers the step's job. That of the first step is the target of the chain's first job if the request has none. */
            push?: components["schemas"]["PostEnqueueRequestChainStepsPush"];
            /** @description Queue of the step's job. Control characters are not allowed. */
            queue: string;
        };
        PostEnqueueRequestChainStepsPush: {
            /** @description Credentials. */
            auth?: components["schemas"]["PostEnqueueRequestChainStepsPushAuth"];
            /** @description Template of the request body, with {{payload}}, {{job_id}}, {{queue}}, {{attempt}} and {{due_at}}. The payload by default. */
            body?: string;
            /** @description Request headers. Their values are never shown again. */
            headers?: {
                [key: string]: string;
            };
            /** @description Store the first 64 KiB of the response in the job's result. */
            keep_answer?: boolean;
            /** @description HTTP method. POST by default. */
            method?: string;
            /**
             * Format: int64
             * @description Response statuses below this value count as success. 400 by default.
             * @default 400
             */
            success_below?: number;
            /**
             * @description Timeout of one call, including redirects. 5m by default.
             * @default 5m0s
             * @example 1m30s
             */
            timeout?: string;
            /** @description Target URL, http or https. Control characters are not allowed. */
            url: string;
        };
        PostEnqueueRequestChainStepsPushAuth: {
            /** @description Password for basic. Never shown again. Control characters are not allowed. */
            password?: string;
            /** @description Token for bearer. Never shown again. Control characters are not allowed. */
            token?: string;
            /** @description Type of authentication: bearer or basic. */
            type: string;
            /** @description User name for basic. Control characters are not allowed. */
            username?: string;
        };
        PostEnqueueRequestJobs: {
            /** @description Makes the job an agent job with these limits. */
            agent?: components["schemas"]["PostEnqueueRequestAgent"];
            /** @description Open batch that the job joins. */
            batch_id?: string;
            /** @description Chain of jobs that run one after another. */
            chain?: components["schemas"]["PostEnqueueRequestChain"];
            /** @description Chain definition, for clients that build chains themselves. */
            chain_config?: {
                [key: string]: unknown;
            };
            /** @description Chain ID, for clients that build chains themselves. */
            chain_id?: string;
            /**
             * Format: int64
             * @description Position in the chain, for clients that build chains themselves.
             */
            chain_step?: number;
            /** @description Checkpoint passed to the worker with the first fetch. */
            checkpoint?: unknown;
            /** @description IDs of jobs that must complete first. */
            depends_on?: string[];
            /**
             * @description The job expires if it has not started within this duration.
             * @example 1m30s
             */
            expire_after?: string;
            /**
             * Format: int64
             * @description expire_after in milliseconds. Set only one of the two.
             */
            expire_after_ms?: number;
            /** @description Reserved. Must be empty. */
            group?: string;
            /**
             * Format: int64
             * @description Maximum number of attempts, including the first.
             * @default 3
             */
            max_retries?: number;
            /** @description ID of a parent job. Informational. */
            parent_id?: string;
            /** @description Payload: any JSON value. null is a distinct value. */
            payload?: unknown;
            /**
             * @description Priority: critical, high or normal.
             * @default normal
             */
            priority?: ("critical" | "high" | "normal") | (0 | 1 | 2);
            /** @description Target URL. The server delivers the job; workers do not get it. */
            push?: components["schemas"]["PostEnqueueRequestChainStepsPush"];
            /** @description Queue of the job. Control characters are not allowed. */
            queue: string;
            /**
             * @description How the delay between attempts grows: none, fixed, linear or exponential.
             * @default exponential
             * @enum {string}
             */
            retry_backoff?: "none" | "fixed" | "linear" | "exponential";
            /**
             * @description Base delay between attempts, as a duration.
             * @default 5s
             * @example 1m30s
             */
            retry_base_delay?: string;
            /**
             * Format: int64
             * @description retry_base_delay in milliseconds. Set only one of the two.
             */
            retry_base_delay_ms?: number;
            /**
             * @description Maximum delay between attempts, as a duration. 0s: no maximum.
             * @default 10m0s
             * @example 1m30s
             */
            retry_max_delay?: string;
            /**
             * Format: int64
             * @description retry_max_delay in milliseconds. Set only one of the two.
             */
            retry_max_delay_ms?: number;
            /**
             * Format: date-time
             * @description The job does not start before this time.
             */
            scheduled_at?: string;
            /** @description Tags: an object, usually with string values. */
            tags?: {
                [key: string]: unknown;
            };
            /** @description Unique key. While a job holds it, no second job with the same key is created. */
            unique_key?: string;
            /**
             * Format: int64
             * @description How long the key is held, in seconds.
             */
            unique_period?: number;
        };
        PostFailByJobIdRequest: {
            /** @description Stack trace. Longer text is truncated. */
            backtrace?: string;
            /** @description Error message. Longer text is truncated. */
            error?: string;
            /**
             * Format: int64
             * @description Lease token of the fetch. Refused if another worker has the job by now.
             */
            lease_token?: number;
        };
        PostFetchBatchRequest: {
            /**
             * Format: int64
             * @description Maximum number of jobs, at most 512.
             * @default 1
             */
            count?: number;
            /** @description Host name of the worker. */
            hostname?: string;
            /**
             * Format: int64
             * @description Length of the lease in seconds. A heartbeat renews it. Default: 60, or timeout if that is longer.
             */
            lease_duration?: number;
            /** @description Queues to fetch from, in this order. */
            queues: string[];
            /**
             * Format: int64
             * @description Seconds to wait for a job. Default 30, at most 60.
             */
            timeout?: number;
            /** @description Version of the worker's program. Default: the X-Corvo-Client-Version header. */
            version?: string;
            /** @description ID of the worker. Registers the worker. */
            worker_id?: string;
        };
        PostFetchRequest: {
            /** @description Host name of the worker. */
            hostname?: string;
            /**
             * Format: int64
             * @description Length of the lease in seconds. A heartbeat renews it. Default: 60, or timeout if that is longer.
             */
            lease_duration?: number;
            /** @description Queues to fetch from, in this order. */
            queues: string[];
            /**
             * Format: int64
             * @description Seconds to wait for a job. Default 30, at most 60.
             */
            timeout?: number;
            /** @description Version of the worker's program. Default: the X-Corvo-Client-Version header. */
            version?: string;
            /** @description ID of the worker. Registers the worker. */
            worker_id?: string;
        };
        PostHeartbeatRequest: {
            /** @description Object from job ID to progress, checkpoint, usage and lease_token; or an array of objects with job_id. */
            jobs?: {
                [key: string]: {
                    [key: string]: unknown;
                };
            } | {
                [key: string]: unknown;
            }[];
        };
        PostJobsBulkGetRequest: {
            /** @description Job IDs, at most 1000. Longer text is truncated. */
            job_ids?: string[];
        };
        PostJobsBulkRequest: {
            /**
             * @description Action to apply to each job.
             * @enum {string}
             */
            action: "retry" | "requeue" | "cancel" | "hold" | "approve" | "reject" | "move" | "change_priority" | "delete";
            /** @description Run in the background, regardless of the number of jobs. */
            async?: boolean;
            /** @description Count the matching jobs without changing them. */
            dry_run?: boolean;
            /** @description All jobs that match this search. Unknown members are refused. */
            filter?: {
                [key: string]: unknown;
            };
            /** @description IDs of the jobs. Takes precedence over filter. An empty array counts as absent. Longer text is truncated. */
            job_ids?: string[];
            /** @description Target queue of move. Control characters are not allowed. */
            move_to_queue?: string;
            /** @description New priority for change_priority. */
            priority?: ("critical" | "high" | "normal") | (0 | 1 | 2);
            /** @description Reason for hold and reject, shown with the job. Longer text is truncated. */
            reason?: string;
            /** @description For move: reset the number of attempts. */
            reset_attempts?: boolean;
        };
        PostJobsByIdHoldRequest: {
            /** @description Reason, shown with the job. Longer text is truncated. */
            reason?: string;
        };
        PostJobsByIdMoveRequest: {
            /** @description Target queue. Control characters are not allowed. */
            queue: string;
            /** @description Reset the number of attempts. */
            reset_attempts?: boolean;
        };
        PostJobsByIdReplayRequest: {
            /**
             * Format: int64
             * @description Iteration to continue from.
             */
            from?: number;
        };
        PostJobsSearchRequest: {
            /**
             * Format: int64
             * @description Maximum number of attempts.
             */
            attempt_max?: number;
            /**
             * Format: int64
             * @description Minimum number of attempts.
             */
            attempt_min?: number;
            /** @description Batch. */
            batch_id?: string;
            /** @description Chain. */
            chain_id?: string;
            /**
             * Format: int64
             * @description Position in a chain.
             */
            chain_step?: number;
            /**
             * Format: date-time
             * @description Completed after this time.
             */
            completed_after?: string;
            /**
             * Format: date-time
             * @description Completed before this time.
             */
            completed_before?: string;
            /**
             * Format: date-time
             * @description Created after this time.
             */
            created_after?: string;
            /**
             * Format: date-time
             * @description Created before this time.
             */
            created_before?: string;
            /** @description Cursor of the previous response. */
            cursor?: string;
            /** @description Job that the jobs depend on. */
            depends_on?: string;
            /** @description Text in any error message. Not case-sensitive. */
            error_contains?: string;
            /** @description Fingerprint of an error group from GET /errors. */
            error_fingerprint?: string;
            /**
             * Format: date-time
             * @description Expires after this time.
             */
            expire_after?: string;
            /**
             * Format: date-time
             * @description Expires before this time.
             */
            expire_before?: string;
            /** @description Only jobs with (true) or without (false) errors. */
            has_errors?: boolean;
            /** @description Prefix of the job ID. */
            job_id_prefix?: string;
            /**
             * Format: int64
             * @description Maximum number of jobs. Default 50, at most 1000.
             */
            limit?: number;
            /** @description Sort order: asc or desc. */
            order?: string;
            /** @description Parent. */
            parent_id?: string;
            /** @description Text in the JSON of the payload. Not case-sensitive. */
            payload_contains?: string;
            /** @description jq expression about the payload, such as .user.id == 7. */
            payload_jq?: string;
            /** @description Priority of the job. */
            priority?: ("critical" | "high" | "normal") | (0 | 1 | 2);
            /** @description Name of the queue. */
            queue?: string;
            /**
             * Format: date-time
             * @description Due after this time.
             */
            scheduled_after?: string;
            /**
             * Format: date-time
             * @description Due before this time.
             */
            scheduled_before?: string;
            /** @description Sort by created_at, priority, started_at, completed_at, attempt, scheduled_at or failed_at. */
            sort?: string;
            /**
             * Format: date-time
             * @description Started after this time.
             */
            started_after?: string;
            /**
             * Format: date-time
             * @description Started before this time.
             */
            started_before?: string;
            /** @description States, any of which must match: an array, or a comma-separated string. */
            state?: string | string[];
            /** @description Tags that must all match. */
            tags?: {
                [key: string]: unknown;
            };
            /** @description Unique key. */
            unique_key?: string;
            /** @description Worker that runs the job, or ran it last. */
            worker_id?: string;
        };
        PostMarkersRequest: {
            /**
             * Format: date-time
             * @description When it happened. Default: now.
             */
            at?: string;
            /** @description Queue that the marker is about. All queues if left out. */
            queue?: string;
            /** @description What happened, for example "deployed 1.4.2". Control characters are not allowed. */
            text: string;
        };
        PostNamespacesRequest: {
            /** @description Lower-case letters, digits and inner hyphens, at most 63 characters. */
            name: string;
        };
        PostOrgMembersRequest: {
            /** @description Email address. Control characters are not allowed. */
            email?: string;
            /** @description Name of the member. Control characters are not allowed. */
            name: string;
            /**
             * @description Role: owner, admin or member. Control characters are not allowed.
             * @default member
             */
            role?: string;
        };
        PostQueuesByNameConcurrencyRequest: {
            /**
             * Format: int64
             * @description Maximum number of active jobs. 0 or less removes the limit. Larger values are reduced to the maximum.
             */
            max?: number;
        };
        PostQueuesByNameThrottleRequest: {
            /**
             * @description Length of the window, as a duration. window_ms takes precedence.
             * @example 1m30s
             */
            period?: string;
            /**
             * Format: int64
             * @description Maximum number of jobs started per window.
             */
            rate: number;
            /**
             * Format: int64
             * @description Length of the window, in milliseconds.
             */
            window_ms?: number;
        };
        PostSchedulesRequest: {
            /** @description Cron expression with five fields, a macro such as @daily, or @every with a duration. */
            cron: string;
            /**
             * @description Whether the schedule creates jobs.
             * @default true
             */
            enabled?: boolean;
            /**
             * Format: int64
             * @description Maximum number of attempts of each job, including the first.
             * @default 3
             */
            max_retries?: number;
            /** @description Unique name. Control characters are not allowed. */
            name: string;
            /** @description Payload of the created jobs. null is a distinct value. */
            payload?: unknown;
            /**
             * @description Priority of the created jobs.
             * @default normal
             */
            priority?: ("critical" | "high" | "normal") | (0 | 1 | 2);
            /** @description Target URL if the server delivers the jobs. null: workers fetch them. null is a distinct value. */
            push?: components["schemas"]["PostEnqueueRequestChainStepsPush"];
            /** @description Queue of the created jobs. Control characters are not allowed. */
            queue: string;
            /** @description Tags of the created jobs. */
            tags?: {
                [key: string]: unknown;
            };
            /** @description IANA time zone. UTC by default. */
            timezone?: string;
            /** @description Unique key of the created jobs. A run is skipped while the key is held. */
            unique_key?: string;
        };
        PostSettingsSsoRequest: {
            /** @description Role by group. */
            group_role_mappings?: {
                [key: string]: unknown;
            };
            /** @description Client ID of this server at the provider. Tokens must have it as their audience. Control characters are not allowed. */
            oidc_client_id?: string;
            /** @description Client secret, if the client has one. If left out, the secret of the same client is kept. Control characters are not allowed. */
            oidc_client_secret?: string;
            /** @description Token claim that contains the user's groups. Default: groups. Control characters are not allowed. */
            oidc_group_claim?: string;
            /** @description Issuer URL of the provider, exactly as the provider reports it. Control characters are not allowed. */
            oidc_issuer_url?: string;
            /** @description Provider type: oidc, saml, or empty to turn single sign-on off. */
            provider?: string;
            /** @description With saml: whether the X-Corvo-SAML headers of trusted proxies are accepted. */
            saml_enabled?: boolean;
        };
        PostWebhooksRequest: {
            /**
             * @description Whether events are delivered.
             * @default true
             */
            enabled?: boolean;
            /** @description Event types. They may start with job. and contain * and ?. All types by default. */
            events?: string[];
            /** @description ID of the webhook; generated if left out. An existing webhook is replaced. Control characters are not allowed. */
            id?: string;
            /**
             * Format: int64
             * @description Maximum number of attempts per event.
             * @default 3
             */
            retry_limit?: number;
            /** @description Secret that signs requests. *** keeps the current secret. */
            secret?: string;
            /** @description URL that receives the events. */
            url: string;
        };
        Progress: {
            /** @description Work done so far. */
            current?: unknown;
            /** @description Human-readable message. */
            message?: unknown;
            /** @description Total amount of work. */
            total?: unknown;
        };
        Push: {
            /** @description Type of authentication. Secrets are not shown. */
            auth?: {
                [key: string]: unknown;
            };
            /** @description Template of the request body. The payload if absent. */
            body?: string;
            /** @description Names of the request headers. Values are not shown. */
            headers?: {
                [key: string]: unknown;
            };
            /** @description Whether the response body is stored in the job's result. */
            keep_answer?: boolean;
            /** @description HTTP method. POST if absent. */
            method?: string;
            /**
             * Format: int64
             * @description Response statuses below this value count as success. 400 if absent.
             */
            success_below?: number;
            /**
             * Format: int64
             * @description Timeout of one call, in milliseconds. Five minutes if absent.
             */
            timeout_ms?: number;
            /** @description URL that the server calls. */
            url: string;
        };
        PushAttempt: {
            /**
             * Format: int64
             * @description Milliseconds until the response headers arrived.
             */
            answer_ms: number;
            /**
             * Format: int64
             * @description Attempt number within the run, starting at 1.
             */
            attempt: number;
            /**
             * Format: date-time
             * @description Due time of the run.
             */
            due_at?: string;
            /**
             * Format: date-time
             * @description End of the call.
             */
            ended_at?: string;
            /** @description Error message. */
            error?: string;
            /** @description Type of error: timeout, cancelled, dns_error, connection_error, http_error or unknown. */
            error_type?: string;
            /**
             * Format: int64
             * @description Status of the response, if there was one.
             */
            http_status?: number;
            /** @description Node that made the call. */
            node_id?: string;
            /** @description Outcome: completed, failed, timeout or cancelled. */
            outcome?: string;
            /**
             * Format: date-time
             * @description Start of the call.
             */
            started_at?: string;
        };
        PushHost: {
            /** @description closed, open (nothing is called until next_probe_at) or half_open (one new call per second). */
            breaker: string;
            /**
             * Format: int64
             * @description Attempts that failed.
             */
            failed: number;
            /** @description Host and port. */
            host: string;
            /**
             * Format: int64
             * @description Calls in progress.
             */
            in_flight: number;
            /**
             * Format: date-time
             * @description Start of the last call that has ended.
             */
            last_call_at?: string;
            /** @description Error of the last failed attempt. */
            last_error?: string;
            /**
             * Format: date-time
             * @description Time of the last failed attempt.
             */
            last_error_at?: string;
            /** @description Moving average of the duration of calls, in milliseconds. */
            latency_ms?: number;
            /**
             * Format: date-time
             * @description Time of the next call while the breaker is open.
             */
            next_probe_at?: string;
            /**
             * Format: int64
             * @description Attempts that succeeded.
             */
            succeeded: number;
            /**
             * Format: int64
             * @description Calls in a row without a response.
             */
            unanswered: number;
            /**
             * Format: int64
             * @description Jobs waiting to be delivered to this host.
             */
            waiting: number;
        };
        PutNamespacesByNameQuotaRequest: {
            /**
             * Format: int64
             * @description Maximum number of unfinished jobs. 0: no limit.
             */
            max_jobs?: number;
            /**
             * Format: int64
             * @description Maximum payload bytes of unfinished jobs. 0: no limit.
             */
            max_payload_bytes?: number;
            /**
             * Format: int64
             * @description Maximum number of queues. 0: no limit.
             */
            max_queues?: number;
        };
        PutNamespacesByNameRateLimitRequest: {
            /**
             * Format: double
             * @description Reads in a burst, above 0.
             */
            read_burst?: number;
            /**
             * Format: double
             * @description Reads per second and client, above 0.
             */
            read_rps?: number;
            /**
             * Format: double
             * @description Writes in a burst, above 0.
             */
            write_burst?: number;
            /**
             * Format: double
             * @description Writes per second and client, above 0.
             */
            write_rps?: number;
        };
        PutOrgRequest: {
            /** @description Name of the organization. Control characters are not allowed. */
            name: string;
        };
        PutSchedulesByIdRequest: {
            /** @description Cron expression with five fields, a macro such as @daily, or @every with a duration. */
            cron?: string;
            /** @description Whether the schedule creates jobs. */
            enabled?: boolean;
            /**
             * Format: int64
             * @description Maximum number of attempts of each job, including the first.
             */
            max_retries?: number;
            /** @description Unique name. Control characters are not allowed. */
            name?: string;
            /** @description Payload of the created jobs. null is a distinct value. */
            payload?: unknown;
            /** @description Priority of the created jobs. */
            priority?: ("critical" | "high" | "normal") | (0 | 1 | 2);
            /** @description Target URL if the server delivers the jobs. null: workers fetch them. null is a distinct value. */
            push?: components["schemas"]["PostEnqueueRequestChainStepsPush"];
            /** @description Queue of the created jobs. Control characters are not allowed. */
            queue?: string;
            /** @description Tags of the created jobs. */
            tags?: {
                [key: string]: unknown;
            };
            /** @description IANA time zone. UTC by default. */
            timezone?: string;
            /** @description Unique key of the created jobs. A run is skipped while the key is held. */
            unique_key?: string;
        };
        Queue: {
            /**
             * Format: int64
             * @description Active jobs.
             */
            active: number;
            /**
             * Format: int64
             * @description Cancelled jobs.
             */
            cancelled: number;
            /**
             * Format: int64
             * @description Completed jobs.
             */
            completed: number;
            /**
             * Format: date-time
             * @description Time when the queue was created.
             */
            created_at?: string;
            /**
             * Format: int64
             * @description Dead jobs.
             */
            dead: number;
            /**
             * Format: int64
             * @description Jobs in all states.
             */
            enqueued: number;
            /**
             * Format: int64
             * @description Failed attempts since the queue was created.
             */
            failed: number;
            /**
             * Format: int64
             * @description Held jobs.
             */
            held: number;
            /**
             * Format: int64
             * @description Maximum number of active jobs.
             */
            max_concurrency?: number;
            /** @description Name of the queue. */
            name: string;
            /**
             * Format: date-time
             * @description Time when the oldest pending job was enqueued.
             */
            oldest_pending_at?: string;
            /** @description Whether the queue is paused. A paused queue hands out no jobs. */
            paused: boolean;
            /**
             * Format: int64
             * @description Pending jobs.
             */
            pending: number;
            /**
             * Format: int64
             * @description Maximum number of jobs started per window.
             */
            rate_limit?: number;
            /**
             * Format: int64
             * @description Length of the window, in milliseconds.
             */
            rate_window_ms?: number;
            /**
             * Format: int64
             * @description Jobs waiting for a retry.
             */
            retrying: number;
            /**
             * Format: int64
             * @description Scheduled jobs.
             */
            scheduled: number;
        };
        QueueExplanation: {
            /**
             * Format: int64
             * @description Active jobs.
             */
            active: number;
            /**
             * Format: int64
             * @description Held jobs.
             */
            held: number;
            /**
             * Format: int64
             * @description Pending jobs that are ready to run.
             */
            in_line: number;
            /**
             * Format: int64
             * @description Pending jobs.
             */
            pending: number;
            /** @description Name of the queue. */
            queue: string;
            /** @description Why workers get no jobs from this queue. */
            reasons: components["schemas"]["Reason"][];
            /**
             * Format: int64
             * @description Jobs waiting for a retry.
             */
            retrying: number;
            /** @description Whether a worker could fetch a job now. */
            runnable: boolean;
            /**
             * Format: int64
             * @description Scheduled jobs.
             */
            scheduled: number;
            /** @description Some of the workers that fetch from this queue. */
            workers: components["schemas"]["QueueWorker"][];
            /**
             * Format: int64
             * @description Number of workers that fetch from this queue.
             */
            workers_total: number;
        };
        QueueWorker: {
            /** @description Host name of the worker. */
            hostname?: string;
            /** @description Worker ID. */
            id: string;
            /**
             * Format: date-time
             * @description Time of the last request.
             */
            last_heartbeat: string;
        };
        QuotaLine: {
            /**
             * Format: int64
             * @description Limit. Absent if there is none.
             */
            max?: number;
            /**
             * Format: int64
             * @description Current use.
             */
            used: number;
        };
        Reason: {
            /**
             * Format: int64
             * @description Number of active jobs.
             */
            active?: number;
            /**
             * Format: date-time
             * @description Time when the job ended.
             */
            at?: string;
            /**
             * Format: int64
             * @description Number of attempts started so far.
             */
            attempt?: number;
            /** @description Reason as a code, for programs. */
            code: string;
            /**
             * Format: int64
             * @description Number of jobs that must complete first.
             */
            count?: number;
            /** @description Some of the active jobs. */
            held_by?: components["schemas"]["Holder"][];
            /** @description Whether there are more active jobs than listed. */
            held_by_more?: boolean;
            /** @description Why the job is held. */
            hold_reason?: string;
            /** @description Host name of the worker. */
            hostname?: string;
            /** @description Error message of the last failure. */
            last_error?: string;
            /**
             * Format: date-time
             * @description Last time a worker was seen.
             */
            last_heartbeat?: string;
            /**
             * Format: int64
             * @description Maximum number of active jobs.
             */
            max_concurrency?: number;
            /**
             * Format: int64
             * @description Maximum number of attempts, including the first.
             */
            max_retries?: number;
            /** @description Reason as a sentence, for people. */
            message: string;
            /** @description What an exceeded budget does: hold or reject. */
            on_exceed?: string;
            /**
             * Format: int64
             * @description Maximum number of jobs started per window.
             */
            rate_limit?: number;
            /**
             * Format: int64
             * @description Length of the window, in milliseconds.
             */
            rate_window_ms?: number;
            /**
             * Format: date-time
             * @description Time when the attempt started.
             */
            started_at?: string;
            /**
             * Format: date-time
             * @description Time when the reason no longer applies.
             */
            until?: string;
            /** @description Jobs that must complete first. */
            waits_for?: components["schemas"]["Dependency"][];
            /** @description Worker that runs the job. */
            worker_id?: string;
        };
        Rebuilt: {
            /**
             * Format: int64
             * @description Duration in milliseconds.
             */
            duration_ms: number;
            /** @description true */
            rebuilt: boolean;
            /** @description ok */
            status: string;
        };
        Refusal: {
            /** @description Action on the resource that a custom role must grant for it. */
            action: string;
            /** @description HTTP method. */
            method: string;
            /** @description Path, with its parameters in braces. */
            path: string;
            /** @description Resource that a custom role must grant for it. */
            resource: string;
            /** @description Built-in roles that may use the operation. */
            roles: string[];
            /** @description Whether it also needs a caller of the default namespace that is not limited to queues. */
            whole_server: boolean;
        };
        Restored: {
            /**
             * Format: int64
             * @description Jobs that could not be restored.
             */
            failed_jobs?: number;
            /** @description Namespace that was restored into. */
            namespace: string;
            /**
             * Format: int64
             * @description Number of restored jobs.
             */
            restored_jobs: number;
            /**
             * Format: int64
             * @description Jobs that already existed.
             */
            skipped_jobs?: number;
            /** @description ok */
            status: string;
            /** @description Problems that did not prevent the restore, and what was not restored. */
            warnings?: string[];
        };
        Role: {
            /**
             * Format: date-time
             * @description Time when the role was created.
             */
            created_at: string;
            /** @description Name of the role. */
            name: string;
            /** @description Permissions of the role. */
            permissions: components["schemas"]["Permission"][];
            /**
             * Format: date-time
             * @description Time of the last change.
             */
            updated_at?: string;
        };
        Runtime: {
            /**
             * Format: int64
             * @description CPU time in the kernel, in nanoseconds.
             */
            cpu_sys_ns: number;
            /**
             * Format: int64
             * @description CPU time in user mode, in nanoseconds.
             */
            cpu_user_ns: number;
            /**
             * Format: int64
             * @description Always 0: there is no garbage collector.
             */
            gc_pause_p99_ns: number;
            /**
             * Format: int64
             * @description Number of processors.
             */
            gomaxprocs: number;
            /**
             * Format: int64
             * @description Number of threads.
             */
            goroutines: number;
            /**
             * Format: int64
             * @description Allocated memory, in bytes.
             */
            heap_inuse_bytes: number;
            /**
             * Format: int64
             * @description Stack memory, in bytes.
             */
            stack_inuse_bytes: number;
        };
        Schedule: {
            /**
             * Format: date-time
             * @description Time when the schedule was created.
             */
            created_at: string;
            /** @description Cron expression with five fields, or a macro such as @daily. */
            cron: string;
            /** @description Whether the schedule creates jobs. */
            enabled: boolean;
            /** @description Schedule ID. */
            id: string;
            /**
             * Format: date-time
             * @description Time of the last run.
             */
            last_run?: string;
            /**
             * Format: int64
             * @description Maximum number of attempts of each job, including the first.
             */
            max_retries: number;
            /** @description Name of the schedule. */
            name: string;
            /**
             * Format: date-time
             * @description Time of the next run.
             */
            next_run?: string;
            /** @description Payload of the created jobs. */
            payload: unknown;
            /**
             * Format: int64
             * @description Priority of the created jobs: 0 critical, 1 high, 2 normal. With X-Corvo-Api: 2: 100, 75, 50. Absent if normal.
             */
            priority?: number;
            /** @description Target URL of jobs that the server delivers. */
            push?: components["schemas"]["Push"];
            /** @description Queue of the created jobs. */
            queue: string;
            /** @description Tags of the created jobs. */
            tags?: {
                [key: string]: unknown;
            };
            /** @description Time zone of the cron expression. */
            timezone: string;
            /** @description Unique key of the created jobs. */
            unique_key?: string;
            /**
             * Format: date-time
             * @description Time of the last change.
             */
            updated_at?: string;
        };
        SdbAttempt: {
            /**
             * Format: int64
             * @description Attempt number, starting at 1.
             */
            attempt_num: number;
            /**
             * Format: int64
             * @description End of the call.
             */
            end_time?: number;
            /** @description Error message. */
            error_message?: string;
            /** @description Type of error. */
            error_type?: string;
            /**
             * Format: int64
             * @description Status of the response.
             */
            http_status?: number;
            /** @description Node that made the call. */
            node_id?: string;
            /**
             * Format: int64
             * @description Response time, in milliseconds.
             */
            response_time_ms?: number;
            /**
             * Format: int64
             * @description Due time of the run of a recurring job.
             */
            scheduled_for?: number;
            /**
             * Format: int64
             * @description Start of the call.
             */
            start_time: number;
            /** @description Outcome of the call. */
            status?: string;
        };
        SdbAttempts: {
            /** @description Calls made for the job. */
            attempts: components["schemas"]["SdbAttempt"][];
            /** @description Job ID. */
            job_id: string;
        };
        SdbBatch: {
            /** @description Jobs that were not created. */
            errors: components["schemas"]["SdbRefusal"][];
            /** @description Jobs that exist now, in the order of the request. */
            jobs: components["schemas"]["SdbJob"][];
        };
        SdbCancelled: {
            /**
             * Format: int64
             * @description Time when the job was cancelled.
             */
            cancelled_at: number;
            /** @description Job ID. */
            job_id: string;
            /** @description Present if a call was in progress. */
            message?: string;
            /** @description Always cancelled. */
            status: string;
        };
        SdbCluster: {
            /** @description Whether this node is the leader. */
            is_leader: boolean;
            /**
             * Format: int64
             * @description Number of jobs.
             */
            job_count: number;
            /** @description Address of the leader. Empty if it is unknown. */
            leader: string;
            /** @description Node that answered the request. */
            node_id: string;
            /** @description Leader, Follower or Candidate. */
            raft_state: string;
            /** @description Members of the cluster. */
            servers: components["schemas"]["SdbServer"][];
        };
        SdbHealth: {
            /** @description Jobs by status. */
            execution: components["schemas"]["SdbRuns"];
            /** @description Capacity in jobs. */
            jobs: components["schemas"]["SdbRoom"];
            /** @description Address of the leader for the other nodes. Reported by followers only. */
            leader?: string;
            /** @description Capacity in bytes. */
            memory: components["schemas"]["SdbMemory"];
            /** @description Node that answered the request. */
            node_id: string;
            /** @description leader or follower. */
            role: string;
            /** @description healthy, degraded or unhealthy. */
            status: string;
        };
        SdbJob: {
            /**
             * Format: int64
             * @description Creation time. For a recurring job, the requested start time.
             */
            created_at: number;
            /** @description Cron expression of a recurring job. */
            cron_expression?: string;
            /** @description Job ID. */
            id: string;
            /**
             * Format: int64
             * @description A recurring job does not run after this time.
             */
            last_date?: number;
            /**
             * Format: int64
             * @description Next due time of a recurring job.
             */
            next_run?: number;
            /** @description Request body of the call. */
            payload?: unknown;
            /**
             * Format: int64
             * @description Creation time of a recurring job.
             */
            registered_at?: number;
            /**
             * Format: int64
             * @description Due time of a unico job.
             */
            timestamp?: number;
            /** @description Type: unico (once) or recurrente (recurring). */
            type: string;
            /** @description URL to call. */
            webhook_url?: string;
        };
        SdbJoined: {
            /** @description Human-readable message. */
            message: string;
            /** @description Always true. */
            success: boolean;
        };
        SdbList: {
            /** @description Jobs, oldest first. */
            jobs: components["schemas"]["SdbState"][];
            /** @description Cursor of the next page. Absent on the last page. */
            next_cursor?: string;
            /**
             * Format: int64
             * @description Number of jobs with this status on all pages.
             */
            total: number;
        };
        SdbMemory: {
            /**
             * Format: int64
             * @description Bytes available.
             */
            available_bytes: number;
            /**
             * Format: int64
             * @description Bytes used by jobs.
             */
            current_bytes: number;
            /**
             * Format: int64
             * @description Maximum number of bytes.
             */
            limit_bytes: number;
            /** @description Percentage of the limit in use. */
            utilization_percent: number;
        };
        SdbReady: {
            /** @description Why the node is not ready. */
            reason?: string;
            /** @description ready or not ready. */
            status: string;
        };
        SdbRefusal: {
            /** @description Why the job was not created. */
            error: string;
            /** @description Job ID, if the request has one. */
            id?: string;
            /**
             * Format: int64
             * @description Position of the job in the request, starting at 0.
             */
            index: number;
            /**
             * Format: int64
             * @description Status that POST /jobs would have returned.
             */
            status: number;
        };
        SdbRoom: {
            /**
             * Format: int64
             * @description Number of jobs that can still be created.
             */
            available: number;
            /**
             * Format: int64
             * @description Same as current_count.
             */
            count: number;
            /**
             * Format: int64
             * @description Number of jobs.
             */
            current_count: number;
            /**
             * Format: int64
             * @description Maximum number of jobs.
             */
            limit: number;
        };
        SdbRuns: {
            /**
             * Format: int64
             * @description Cancelled jobs.
             */
            cancelled: number;
            /**
             * Format: int64
             * @description Jobs that succeeded.
             */
            completed: number;
            /**
             * Format: int64
             * @description Jobs that failed.
             */
            failed: number;
            /** @description Share of finished jobs that failed or timed out. */
            failure_rate: number;
            /**
             * Format: int64
             * @description Jobs with a call in progress.
             */
            in_progress: number;
            /**
             * Format: int64
             * @description Time when a call last ended.
             */
            last_executed_at?: number;
            /**
             * Format: int64
             * @description Jobs waiting for their due time.
             */
            pending: number;
            /**
             * Format: int64
             * @description Jobs whose call timed out.
             */
            timeout: number;
            /**
             * Format: int64
             * @description All jobs.
             */
            total: number;
        };
        SdbServer: {
            /** @description Address for the other nodes. */
            address?: string;
            /** @description Name of the node. */
            id: string;
        };
        SdbState: {
            /**
             * Format: int64
             * @description Number of attempts started.
             */
            attempt_count: number;
            /** @description Calls made for the job. */
            attempts: components["schemas"]["SdbAttempt"][];
            /** @description Why the job was cancelled. */
            cancellation_reason?: string;
            /**
             * Format: int64
             * @description Time when the job was cancelled.
             */
            cancelled_at?: number;
            /**
             * Format: int64
             * @description Time when the job ended, with any outcome.
             */
            completed_at?: number;
            /**
             * Format: int64
             * @description Creation time.
             */
            created_at: number;
            /** @description Node that is making the call now. */
            executing_node_id?: string;
            /**
             * Format: int64
             * @description Start of the first attempt.
             */
            first_attempt_at?: number;
            /** @description Job ID. */
            job_id: string;
            /**
             * Format: int64
             * @description Start of the last attempt.
             */
            last_attempt_at?: number;
            /** @description Status: pending, in_progress, completed, failed, timeout or cancelled. */
            status: string;
        };
        Sealed: {
            /** @description Callback job, if the batch has finished and the job exists. */
            callback_job?: components["schemas"]["CallbackJob"];
            /** @description Always sealed. */
            status: string;
        };
        SearchAnswer: {
            /** @description Cursor of the next page. */
            cursor?: string;
            /**
             * Format: int64
             * @description Duration in milliseconds.
             */
            duration_ms: number;
            /** @description Whether there is another page. */
            has_more: boolean;
            /** @description One page of matching jobs. */
            jobs: components["schemas"]["JobSummary"][];
            /**
             * Format: int64
             * @description Number of matching jobs on all pages.
             */
            total: number;
        };
        Session: {
            /** @description Client address. */
            address?: string;
            /**
             * Format: date-time
             * @description Time of the sign-in.
             */
            created_at: string;
            /** @description Whether this request belongs to the session. */
            current: boolean;
            /**
             * Format: date-time
             * @description Time when the session expires.
             */
            expires_at: string;
            /** @description Session ID. It is not the value of the cookie. */
            id: string;
            /** @description Namespace of the session. */
            namespace: string;
            /** @description Who signed in. */
            principal: string;
            /** @description Role of the session. */
            role?: string;
            /** @description User agent of the browser. */
            user_agent?: string;
        };
        SessionBegun: {
            /**
             * Format: date-time
             * @description Time when the session expires.
             */
            expires_at?: string;
            /** @description Namespace of the session. */
            namespace?: string;
            /** @description Role of the session. */
            role?: string;
            /** @description ok */
            status: string;
        };
        SnapshotInfo: {
            /**
             * Format: int64
             * @description Number of snapshots taken.
             */
            count: number;
            /**
             * Format: int64
             * @description Last log entry in the newest snapshot.
             */
            latest_index?: number;
            /**
             * Format: int64
             * @description Term of that entry.
             */
            latest_term?: number;
        };
        Space: {
            /**
             * Format: int64
             * @description Free bytes on the disk of the data directory.
             */
            free_bytes: number;
            /** @description Level: ok, low (new jobs are refused) or full (only deletions are accepted). */
            level: string;
            /**
             * Format: int64
             * @description Memory used by log entries, in bytes.
             */
            log_memory_bytes: number;
            /**
             * Format: int64
             * @description Memory of log entries at which all writes are refused, in bytes.
             */
            log_memory_max_bytes: number;
            /**
             * Format: int64
             * @description Free bytes below which new jobs are refused.
             */
            needed_bytes: number;
            /** @description Why requests are refused. Empty if none are. */
            reason: string;
            /**
             * Format: int64
             * @description Size of the reserve file. 0 after it was removed to free space.
             */
            reserve_bytes: number;
        };
        SsoSaved: {
            /** @description How access changes if the server was open before. */
            note?: string;
            /** @description ok */
            status: string;
            /** @description Why users cannot sign in yet. The settings are stored anyway. */
            warning?: string;
        };
        SsoSettings: {
            /** @description Role by group. */
            group_role_mappings: {
                [key: string]: string;
            };
            /** @description Client ID of this server at the provider. */
            oidc_client_id: string;
            /** @description Whether a client secret is stored. The secret is never shown. */
            oidc_client_secret_set: boolean;
            /** @description Token claim that contains the user's groups. */
            oidc_group_claim: string;
            /** @description Issuer URL of the identity provider. */
            oidc_issuer_url: string;
            /** @description Provider type: oidc, saml, or empty if single sign-on is off. */
            provider: string;
            /** @description Whether the X-Corvo-SAML headers of trusted proxies are accepted. */
            saml_enabled: boolean;
            /**
             * Format: date-time
             * @description Time of the last change.
             */
            updated_at?: string;
        };
        StateHash: {
            /**
             * Format: int64
             * @description Number of comparisons with other nodes.
             */
            compared_total: number;
            /**
             * Format: int64
             * @description Number of comparisons that found a difference.
             */
            differed_total: number;
            /** @description Hash of everything written up to that entry, 16 hex digits. */
            hash: string;
            /**
             * Format: int64
             * @description Log entry after which the hash was taken.
             */
            index: number;
        };
        Status: {
            /** @description New status. */
            status: string;
        };
        Times: {
            /**
             * Format: int64
             * @description Number of jobs measured.
             */
            count: number;
            /**
             * Format: int64
             * @description The longest time.
             */
            max_ms: number;
            /**
             * Format: int64
             * @description Mean, in milliseconds.
             */
            mean_ms: number;
            /**
             * Format: int64
             * @description Half of the jobs took at most this long.
             */
            p50_ms: number;
            /**
             * Format: int64
             * @description 90 % of the jobs took at most this long.
             */
            p90_ms: number;
            /**
             * Format: int64
             * @description 99 % of the jobs took at most this long.
             */
            p99_ms: number;
        };
        UpcomingRuns: {
            /** @description Cron expression with five fields, or a macro such as @daily. */
            cron: string;
            /** @description Schedule ID. */
            id: string;
            /** @description Whether there are more than 48. */
            more: boolean;
            /** @description Name of the schedule. */
            name: string;
            /** @description Queue of the created jobs. */
            queue: string;
            /** @description Start times within the next 24 hours, earliest first. At most 48. */
            runs: string[];
            /** @description Time zone of the cron expression. */
            timezone: string;
        };
        Usage: {
            /**
             * Format: date-time
             * @description Start of the period, rounded down to five minutes or to the hour.
             */
            from: string;
            /** @description Totals by group. */
            groups?: components["schemas"]["UsageGroup"][];
            /** @description Requested period. */
            period: string;
            /**
             * Format: date-time
             * @description End of the period.
             */
            to: string;
            /** @description Totals of the period. */
            totals: components["schemas"]["UsageSum"];
        };
        UsageGroup: {
            /**
             * Format: int64
             * @description Tokens written to the cache.
             */
            cache_creation_tokens: number;
            /**
             * Format: int64
             * @description Tokens read from the cache.
             */
            cache_read_tokens: number;
            /** @description Cost in US dollars. */
            cost_usd: number;
            /**
             * Format: int64
             * @description Number of usage reports.
             */
            count: number;
            /**
             * Format: int64
             * @description Input tokens.
             */
            input_tokens: number;
            /** @description Queue, model, provider or tag value of the group. */
            key: string;
            /**
             * Format: int64
             * @description Output tokens.
             */
            output_tokens: number;
        };
        UsageSum: {
            /**
             * Format: int64
             * @description Tokens written to the cache.
             */
            cache_creation_tokens: number;
            /**
             * Format: int64
             * @description Tokens read from the cache.
             */
            cache_read_tokens: number;
            /** @description Cost in US dollars. */
            cost_usd: number;
            /**
             * Format: int64
             * @description Number of usage reports.
             */
            count: number;
            /**
             * Format: int64
             * @description Input tokens.
             */
            input_tokens: number;
            /**
             * Format: int64
             * @description Output tokens.
             */
            output_tokens: number;
        };
        Webhook: {
            /**
             * Format: date-time
             * @description Time when the webhook was created.
             */
            created_at: string;
            /** @description Whether events are delivered. */
            enabled: boolean;
            /** @description Event types to deliver. */
            events: string[];
            /** @description Webhook ID. */
            id: string;
            /**
             * Format: date-time
             * @description Time of the last attempt.
             */
            last_delivery_at?: string;
            /** @description Why the last delivery failed. */
            last_error?: string;
            /**
             * Format: int64
             * @description Status of the last response.
             */
            last_status_code?: number;
            /**
             * Format: int64
             * @description Sequence number of the last event that was delivered or given up.
             */
            position: number;
            /** @description Queues whose events are delivered: those of the key that created the webhook. */
            queue_scope?: string;
            /**
             * Format: int64
             * @description Maximum number of attempts per event.
             */
            retry_limit: number;
            /** @description Always ***, and only present if a secret is set. */
            secret?: string;
            /** @description URL that receives the events. */
            url: string;
        };
        WebhookChanged: {
            /** @description Webhook ID. */
            id: string;
            /** @description ok or deleted. */
            status: string;
        };
        WordHit: {
            /**
             * Format: date-time
             * @description Time when the job was enqueued.
             */
            created_at: string;
            /** @description Job ID. */
            id: string;
            /** @description Payload as a JSON string. */
            payload: string;
            /** @description Queue of the job. */
            queue: string;
            /** @description State of the job. */
            state: components["schemas"]["JobState"];
            /** @description Tags as a JSON string. Empty if there are none. */
            tags: string;
        };
        WordSearchAnswer: {
            /** @description Search text of the request. */
            q: string;
            /** @description Matching jobs, newest first. */
            results: components["schemas"]["WordHit"][];
        };
        Worker: {
            /** @description Host name of the worker. */
            hostname: string | null;
            /** @description Worker ID. */
            id: string;
            /**
             * Format: date-time
             * @description Time of the last request.
             */
            last_heartbeat: string;
            /** @description Names of its queues: a JSON array as a string. */
            queues: string | null;
            /**
             * Format: date-time
             * @description Time of the first request.
             */
            started_at: string;
            /** @description Version of its program, if the worker sends one. */
            version?: string;
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
