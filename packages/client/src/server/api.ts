// Generated from /openapi.json by generate-api.ts; do not edit. Input and answer of every operation for server
// keys, by method and path.

export interface Operations {
  /** Presence of many users */
  'GET /api/v1/presence': {
    input: { query: { user_ids: string[]; viewer_id?: string | undefined } }
    answer: Presence[]
  }
  /** Presence of many users, by body */
  'POST /api/v1/presence/query': {
    input: {
      query: { viewer_id?: string | undefined }
      body: { user_ids: string[]; viewer_id?: string | undefined }
    }
    answer: Presence[]
  }
  /** Presence of one user */
  'GET /api/v1/presence/{user_id}': {
    input: { path: { user_id: string }; query: { viewer_id?: string | undefined } }
    answer: Presence
  }
  /** Only the status of many users */
  'GET /presence/batch': {
    input: { query: { user_ids: string[]; viewer_id?: string | undefined } }
    answer: Record<string, Status | null>
  }
  /** Set their custom status */
  'PUT /api/v1/users/{user_id}/status': {
    input: {
      path: { user_id: string }
      body: {
        text?: string | null | undefined
        emoji?: string | null | undefined
        /** Unix milliseconds or ISO 8601; null or absent for never. It must be in the future when the request arrives, which a schema cannot say: an instant in the past is refused with `invalid_expiry` */
        expires_at?: number | string | null | undefined
      }
    }
    answer: OwnPresence
  }
  /** Clear their custom status */
  'DELETE /api/v1/users/{user_id}/status': { input: { path: { user_id: string } }; answer: OwnPresence }
  /** Set their availability by hand */
  'PUT /api/v1/users/{user_id}/availability': {
    input: {
      path: { user_id: string }
      body: {
        /** auto and online both return to automatic */
        status: 'auto' | 'online' | 'away' | 'busy' | 'invisible'
        /** Unix milliseconds or ISO 8601; null or absent for never. It must be in the future when the request arrives, which a schema cannot say: an instant in the past is refused with `invalid_expiry` */
        expires_at?: number | string | null | undefined
      }
    }
    answer: OwnPresence
  }
  /** Read their settings */
  'GET /api/v1/users/{user_id}/settings': { input: { path: { user_id: string } }; answer: Settings }
  /** Change their settings */
  'PUT /api/v1/users/{user_id}/settings': {
    input: {
      path: { user_id: string }
      body: {
        /** null returns to the server's default */
        status_visibility?: Audience | null | undefined
        /** null returns to the server's default */
        last_seen_visibility?: Audience | null | undefined
        reciprocal?: boolean | undefined
        last_seen_precision?: 'exact' | 'approximate' | undefined
        allow?: string[] | undefined
        deny?: string[] | undefined
        /** null returns to the server's default */
        away_after_ms?: number | null | undefined
        /** Whether a history may be kept; false deletes what was kept */
        history?: boolean | undefined
      }
    }
    answer: Settings
  }
  /** Read a contact list */
  'GET /api/v1/users/{user_id}/contacts': { input: { path: { user_id: string } }; answer: ContactList }
  /** Replace a contact list */
  'PUT /api/v1/users/{user_id}/contacts': {
    input: { path: { user_id: string }; body: { user_ids: string[] } }
    answer: undefined
  }
  /** Add to a contact list */
  'POST /api/v1/users/{user_id}/contacts': {
    input: { path: { user_id: string }; body: { user_ids: string[] } }
    answer: undefined
  }
  /** Remove from a contact list */
  'DELETE /api/v1/users/{user_id}/contacts': {
    input: { path: { user_id: string }; body: { user_ids: string[] } }
    answer: undefined
  }
  /** Export all data of a user */
  'GET /api/v1/users/{user_id}/export': { input: { path: { user_id: string } }; answer: PersonData }
  /** Erase all data of a user */
  'DELETE /api/v1/users/{user_id}': { input: { path: { user_id: string } }; answer: undefined }
  /** Disconnect a user */
  'POST /api/v1/users/{user_id}/disconnect': {
    input: {
      path: { user_id: string }
      body: {
        device_id?: string | null | undefined
        reason?: string | null | undefined
        /** Unix milliseconds or ISO 8601; until then tokens that were issued before this request are refused. Null or absent: they are not. It must be in the future when the request arrives, which a schema cannot say: an instant in the past is refused with `invalid_expiry` */
        until?: number | string | null | undefined
      }
    }
    answer: undefined
  }
  /** Heartbeats of a foreign gateway */
  'POST /api/v1/heartbeats': {
    input: {
      body: {
        gateway_id: string
        /** Sessions that are alive */
        sessions?:
          | {
              user_id: string
              device_id: string
              /** other where it is left out */
              platform?: 'web' | 'desktop' | 'mobile' | 'tablet' | 'console' | 'bot' | 'other' | undefined
              activity?: 'active' | 'idle' | undefined
              /** Another name for activity */
              activity_type?: 'active' | 'idle' | undefined
              /** When the session was known to be alive; now where it is left out */
              at?: number | string | null | undefined
            }[]
          | undefined
        /** Sessions whose connection has closed */
        disconnected?: { user_id: string; device_id: string }[] | undefined
      }
    }
    answer: RecordedBatch
  }
  /** History of a user */
  'GET /api/v1/users/{user_id}/history': {
    input: {
      path: { user_id: string }
      query: { from?: number | string | undefined; to?: number | string | undefined }
    }
    answer: UserHistory
  }
  /** Hours of all users */
  'GET /api/v1/history': {
    input: { query: { from?: number | string | undefined; to?: number | string | undefined } }
    answer: AllHistory
  }
  /** All webhooks */
  'GET /api/v1/webhooks': { input: Record<never, never>; answer: { webhooks: Webhook[] } }
  /** Add a webhook */
  'POST /api/v1/webhooks': {
    input: {
      body: {
        url: string
        events: (
          | 'user.online'
          | 'user.away'
          | 'user.offline'
          | 'status.changed'
          | 'device.connected'
          | 'device.disconnected'
        )[]
        filter?: WebhookFilterInput | null | undefined
        secret?: string | undefined
      }
    }
    answer: Webhook
  }
  /** A webhook, and how its deliveries go */
  'GET /api/v1/webhooks/{webhook_id}': { input: { path: { webhook_id: string } }; answer: Webhook }
  /** Edit a webhook */
  'PATCH /api/v1/webhooks/{webhook_id}': {
    input: {
      path: { webhook_id: string }
      body: {
        url?: string | undefined
        events?:
          | (
              | 'user.online'
              | 'user.away'
              | 'user.offline'
              | 'status.changed'
              | 'device.connected'
              | 'device.disconnected'
            )[]
          | undefined
        /** Replaces the whole filter; null removes it */
        filter?: WebhookFilterInput | null | undefined
        secret?: string | undefined
        /** Makes a new secret, which is in the answer */
        rotate_secret?: boolean | undefined
        /** true after a webhook was disabled: it is told of changes from now on */
        enabled?: boolean | undefined
      }
    }
    answer: Webhook
  }
  /** Delete a webhook */
  'DELETE /api/v1/webhooks/{webhook_id}': { input: { path: { webhook_id: string } }; answer: undefined }
  /** Send a test event */
  'POST /api/v1/webhooks/{webhook_id}/test': {
    input: { path: { webhook_id: string } }
    answer: {
      delivered: boolean
      /** What the endpoint answered; null without an answer */
      status: number | null
      /** Why it was not delivered */
      because: string | null
    }
  }
  /** Changes that could not be delivered */
  'GET /api/v1/webhooks/{webhook_id}/failures': {
    input: { path: { webhook_id: string }; query: { after?: string | undefined; limit?: number | undefined } }
    answer: {
      failures: {
        user_id: string
        events: {
          id: string
          type:
            | 'user.online'
            | 'user.away'
            | 'user.offline'
            | 'status.changed'
            | 'device.connected'
            | 'device.disconnected'
        }[]
        attempts: number
        failed_at: number
        because: string
      }[]
      /** For `after`; null with the last page */
      next: string | null
    }
  }
  /** Send failures again */
  'POST /api/v1/webhooks/{webhook_id}/replay': {
    input: { path: { webhook_id: string } }
    answer: {
      /** Changes that wait again */
      replayed: number
    }
  }
  /** Why does a viewer see a user as they do */
  'GET /api/v1/explain': {
    input: { query: { user_id: string; viewer_id?: string | undefined } }
    answer: Explanation
  }
  /** Statistics */
  'GET /api/v1/stats': { input: Record<never, never>; answer: Stats }
  /** Statistics of the last hour */
  'GET /api/v1/stats/history': {
    input: Record<never, never>
    answer: {
      /** The length of the window: percentiles count no older delivery */
      propagation_window_ms: number
      samples: {
        at: number
        users: Record<Status, number> | null
        connections: number
        watches: number
        changes_per_second: number
        deliveries_per_second: number
        propagation_p50_ms: number | null
        propagation_p90_ms: number | null
        propagation_p99_ms: number | null
      }[]
    }
  }
}

/** Why a request was refused (RFC 9457) */
export interface Problem {
  type: string
  title: string
  status: number
  /** Decide by this one; codes are added, never renamed */
  code:
    | 'bad_frame'
    | 'bad_request'
    | 'unknown_type'
    | 'invalid_status'
    | 'invalid_id'
    | 'invalid_expiry'
    | 'text_too_long'
    | 'too_many_ids'
    | 'watch_limit'
    | 'unauthorized'
    | 'token_expired'
    | 'forbidden'
    | 'not_found'
    | 'method_not_allowed'
    | 'too_large'
    | 'rate_limited'
    | 'overloaded'
    | 'unavailable'
    | 'internal'
  /** What to correct, for humans */
  detail: string
}

/** A user as others see them */
export interface Presence extends PublicPresence {
  /** live for users who are here, db for all others */
  source: 'live' | 'db'
}

export type Status = 'online' | 'away' | 'busy' | 'offline'

/** A user as they see themselves */
export interface OwnPresence extends PublicPresence {
  /** What the user set; auto for nothing */
  availability: 'auto' | 'away' | 'busy' | 'invisible'
  availability_expires_at: number | null
  sessions: Session[]
}

/** With the server's defaults where the user set nothing */
export interface Settings {
  /** Audience of the status; all others see nothing */
  status_visibility: Audience
  /** Audience, within that, of the last seen */
  last_seen_visibility: Audience
  /** Visible only to users who are visible in return */
  reciprocal: boolean
  last_seen_precision: 'exact' | 'approximate'
  /** Users who may see everything, whatever the audience */
  allow: string[]
  /** Users who may see nothing; wins over everything else. If it is not empty, public presence shows nothing */
  deny: string[]
  /** Inactivity after which the user is away */
  away_after_ms: number
  /** Whether a history may be kept, on a server with history_days above 0 */
  history: boolean
}

export type Audience = 'everyone' | 'contacts' | 'nobody'

export interface ContactList {
  user_ids: string[]
}

export interface PersonData {
  user_id: string
  exported_at: number
  presence: OwnPresence
  settings: Settings
  kept: KeptData
  /** Users on the list of this user */
  contacts: string[]
  /** Users who have this user on their list */
  contact_of: string[]
  /** Empty where none is kept. `to` is null while it lasts */
  history: { status: 'online' | 'away' | 'busy'; from: number; to: number | null; devices: Platform[] }[]
  /** Kept for ten minutes, and until `until`. `device_id` is null for all devices */
  disconnects: { device_id: string | null; at: number; until: number | null; reason: string | null }[]
}

export interface RecordedBatch {
  /** How many entries were recorded */
  accepted: number
  rejected: {
    /** Its position: first `sessions`, then `disconnected` */
    index: number
    code: string
    message: string
  }[]
}

export interface UserHistory {
  user_id: string
  /** Where the answer begins: no earlier than what is kept */
  from: number
  /** Where the answer ends: not after now, and earlier than asked where it would be too long */
  to: number
  /** Oldest first. Between them the user was shown as offline */
  intervals: { status: 'online' | 'away' | 'busy'; from: number; to: number; devices: Platform[] }[]
  /** Times without a gap, whatever the status */
  sessions: { from: number; to: number }[]
  /** Days without presence are left out */
  days: {
    /** A day of UTC */
    day: string
    online_minutes: number
    away_minutes: number
    busy_minutes: number
    first_seen: number
    last_seen: number
  }[]
  /** Hours without presence are left out */
  hours: {
    /** When the hour begins, in Unix milliseconds */
    hour: number
    online_minutes: number
    away_minutes: number
    busy_minutes: number
  }[]
}

export interface AllHistory {
  /** Where the answer begins: no earlier than what is kept */
  from: number
  /** Where the answer ends: not after now, and earlier than asked where it would be too long */
  to: number
  /** Minutes of all users together. Hours without presence are left out */
  hours: {
    /** When the hour begins, in Unix milliseconds */
    hour: number
    online_minutes: number
    away_minutes: number
    busy_minutes: number
    users: number
  }[]
}

export interface Webhook {
  id: string
  url: string
  events: (
    | 'user.online'
    | 'user.away'
    | 'user.offline'
    | 'status.changed'
    | 'device.connected'
    | 'device.disconnected'
  )[]
  filter: {
    user_ids: string[] | null
    contacts_of: string | null
    platforms: Platform[] | null
    viewer_id: string | null
  }
  enabled: boolean
  disabled_at: number | null
  disabled_because: string | null
  created_at: number
  /** Until then requests are signed with the former secret too */
  old_secret_until: number | null
  /** Only in the answer to the request that made it */
  secret?: string
  /** Changes that are still to be delivered */
  pending: number
  /** Changes that were given up; see failures */
  failed: number
  /** Since when every request failed */
  failing_since: number | null
  last_failure: string | null
  /** When a request last succeeded */
  delivered_at: number | null
}

export interface WebhookFilterInput {
  /** Only events of these users */
  user_ids?: string[] | null
  /** Only events of users on the contact list of this user */
  contacts_of?: string | null
  /** Only events with one of these devices */
  platforms?: Platform[] | null
  /** Events as this user sees them. Without it, what the backend of the app may know */
  viewer_id?: string | null
}

export interface Explanation {
  /** Exactly what this viewer gets */
  answer: PublicPresence
  /** Plain sentences in the order of the decision */
  because: string[]
  details: {
    sessions: {
      session_id: string
      device_id: string
      platform: Platform
      gateway_id: string
      state: 'live' | 'closed' | 'lost'
      activity: Activity
      vote: 'active' | 'idle' | 'lingering' | 'gone'
      vote_changes_at: number | null
    }[]
    /** What the devices alone say */
    raw_status: Status
    here: 'absent' | 'arriving' | 'here'
    shown: {
      status: Status
      since: number | null
      last_seen: number | null
      custom_status: CustomStatus | null
      devices: Platform[]
    }
    availability: {
      status: 'auto' | 'away' | 'busy' | 'invisible'
      expires_at: number | null
      set_at: number
      is_expired: boolean
    } | null
    custom_status: {
      text: string | null
      emoji: string | null
      expires_at: number | null
      set_at: number
      is_expired: boolean
    } | null
    privacy: {
      /** Audience of the status; all others see nothing */
      status_visibility: Audience
      /** Audience, within that, of the last seen */
      last_seen_visibility: Audience
      /** Visible only to users who are visible in return */
      reciprocal: boolean
      last_seen_precision: 'exact' | 'approximate'
      /** Users who may see everything, whatever the audience */
      allow: string[]
      /** Users who may see nothing; wins over everything else. If it is not empty, public presence shows nothing */
      deny: string[]
    }
    rulings: { status: Ruling; last_seen: Ruling }
    sight: 'everything' | 'approximate' | 'status' | 'nothing'
    pending: { status: Status; at: number } | null
    next_deadline_at: number | null
    /** Inactivity after which the user is away */
    away_after_ms: number
    version: number
  }
}

export interface Stats {
  /** Users in the hot store by shown status; null while the store is down */
  users: Record<Status, number> | null
  connections: number
  streams: number
  watches: number
  watched_users: number
  slow_readers: number
  gateways: { gateway_id: string; connections: number; watches: number }[]
  /** Every process of the deployment */
  processes: Process[]
  /** Records that each consumer of a log has yet to handle; null where the log is away */
  log_lag: Record<string, number | null>
  /** connections_opened, frames_in, changes and so on */
  rates_per_second: Record<string, number>
  /** connections_opened, frames_in, changes and so on */
  totals: Record<string, number>
  /** From a change to its frame, in the last minutes */
  propagation_ms: {
    p50: number | null
    p90: number | null
    p99: number | null
    count: number
    /** The length of the window: percentiles count no older delivery */
    window_ms: number
  }
  uptime_ms: number
}

export interface PublicPresence {
  user_id: string
  /** Null only for hidden users, where the server is configured so */
  status: Status | null
  /** The latest instant the user is known to have been active; null if never or hidden */
  last_seen: number | null
  /** Instead of last_seen, for users who show it only approximately */
  last_seen_bucket?: 'recently' | 'this_week' | 'this_month' | 'long_ago' | null
  custom_status: CustomStatus | null
  /** Platforms that are live now, most recently active first */
  devices: Platform[]
  /** Grows with every visible change of this user; 0 means that nothing is known */
  version: number
}

export interface Session {
  session_id: string
  device_id: string
  platform: Platform
  activity: Activity
  connected_at: number
}

/** The stored data behind the rest; null for what was never set */
export interface KeptData {
  /** What viewers see who may see everything; differs while invisible */
  shown: PublicPresence
  /** Since when the status is the one shown */
  shown_since: number | null
  /** The real one, also while invisible */
  last_seen: number | null
  /** Includes sessions that ended a moment ago and still count */
  sessions: {
    session_id: string
    device_id: string
    platform: Platform
    gateway_id: string
    activity: Activity
    connected_at: number
    last_active_at: number
    state: 'live' | 'closed' | 'lost'
    /** Null while it is live */
    ended_at: number | null
  }[]
  /** Sessions remembered for two minutes, by id only */
  ended_sessions: { session_id: string; ended_at: number }[]
  availability: {
    status: 'auto' | 'away' | 'busy' | 'invisible'
    expires_at: number | null
    /** When it was set */
    set_at: number
  } | null
  custom_status: {
    text: string | null
    emoji: string | null
    expires_at: number | null
    /** When it was set */
    set_at: number
  } | null
  away_after: { away_after_ms: number | null; set_at: number } | null
  privacy: {
    /** Null where it was left to the server's default */
    status_visibility: Audience | null
    /** Null where it was left to the server's default */
    last_seen_visibility: Audience | null
    reciprocal: boolean
    last_seen_precision: 'exact' | 'approximate'
    allow: string[]
    deny: string[]
    /** When any of it was last changed */
    set_at: number
  } | null
  history: { kept: boolean; set_at: number } | null
}

export type Platform = 'web' | 'desktop' | 'mobile' | 'tablet' | 'console' | 'bot' | 'other'

export type Activity = 'active' | 'idle'

export interface CustomStatus {
  text: string | null
  emoji: string | null
  /** When it disappears by itself; null for never */
  expires_at: number | null
}

export interface Ruling {
  visible: boolean
  rule:
    | 'server_key'
    | 'self'
    | 'allowed'
    | 'everyone'
    | 'contact'
    | 'denied'
    | 'not_a_contact'
    | 'nobody'
    | 'not_shown_back'
    | 'status_hidden'
}

export interface Process {
  name: string
  roles: string[]
  connections: number
  streams: number
  watches: number
  watched_users: number
  slow_readers: number
  changes_per_second: number
  deliveries_per_second: number
  frames_in_per_second: number
  propagation_p50_ms: number | null
  propagation_p90_ms: number | null
  propagation_p99_ms: number | null
  archive_backlog: number
  /** Records that each consumer of a log has yet to handle; null where the log is away */
  log_lag: Record<string, number | null>
  resident_bytes: number
  uptime_ms: number
}
