// Generated from /openapi.json by generate-api.ts; do not edit. Input and answer of every operation for server
// keys, by method and path.

export interface Operations {
  /** Presence of many people */
  'GET /api/v1/presence': {
    input: { query: { user_ids: string[]; viewer_id?: string | undefined } }
    answer: Presence[]
  }
  /** Presence of many people, by body */
  'POST /api/v1/presence/query': {
    input: { query: { viewer_id?: string | undefined }; body: ContactList }
    answer: Presence[]
  }
  /** Presence of one person */
  'GET /api/v1/presence/{user_id}': {
    input: { path: { user_id: string }; query: { viewer_id?: string | undefined } }
    answer: Presence
  }
  /** Only the status of many people */
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
        /** Unix milliseconds or ISO 8601, and ahead of now; null or absent for never */
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
        /** online returns to automatic */
        status: 'online' | 'away' | 'busy' | 'invisible'
        /** Unix milliseconds or ISO 8601, and ahead of now; null or absent for never */
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
      }
    }
    answer: Settings
  }
  /** Read a contact list */
  'GET /api/v1/users/{user_id}/contacts': { input: { path: { user_id: string } }; answer: ContactList }
  /** Replace a contact list */
  'PUT /api/v1/users/{user_id}/contacts': {
    input: { path: { user_id: string }; body: ContactList }
    answer: undefined
  }
  /** Add to a contact list */
  'POST /api/v1/users/{user_id}/contacts': {
    input: { path: { user_id: string }; body: ContactList }
    answer: undefined
  }
  /** Remove from a contact list */
  'DELETE /api/v1/users/{user_id}/contacts': {
    input: { path: { user_id: string }; body: ContactList }
    answer: undefined
  }
  /** Export everything about a person */
  'GET /api/v1/users/{user_id}/export': { input: { path: { user_id: string } }; answer: PersonData }
  /** Erase everything about a person */
  'DELETE /api/v1/users/{user_id}': { input: { path: { user_id: string } }; answer: undefined }
  /** Why does a viewer see a user as they do */
  'GET /api/v1/explain': {
    input: { query: { user_id: string; viewer_id?: string | undefined } }
    answer: Explanation
  }
  /** Numbers for people */
  'GET /api/v1/stats': { input: Record<never, never>; answer: Stats }
  /** The last hour in numbers */
  'GET /api/v1/stats/history': {
    input: Record<never, never>
    answer: {
      samples: {
        at: number
        users: Record<Status, number> | null
        connections: number
        watches: number
        changes_per_second: number
        deliveries_per_second: number
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
  /** For people: what to mend */
  detail: string
}

/** A person as others see them */
export interface Presence extends PublicPresence {
  /** live for people who are here, db for everybody else */
  source: 'live' | 'db'
}

export interface ContactList {
  user_ids: string[]
}

export type Status = 'online' | 'away' | 'busy' | 'offline'

/** A person as they see themselves */
export interface OwnPresence extends PublicPresence {
  /** What the person chose; auto for nothing */
  availability: 'auto' | 'away' | 'busy' | 'invisible'
  availability_expires_at: number | null
  sessions: Session[]
}

/** With the server's defaults where the person chose nothing */
export interface Settings {
  /** Who may see anything at all */
  status_visibility: Audience
  /** Who of those may see the last seen too */
  last_seen_visibility: Audience
  /** Only people who show themselves in return */
  reciprocal: boolean
  last_seen_precision: 'exact' | 'approximate'
  /** People who may see everything, whatever the audience */
  allow: string[]
  /** People who may see nothing; wins over everything else. With anybody in it, the public page shows nothing */
  deny: string[]
  /** Inactivity after which the person is away */
  away_after_ms: number
}

export type Audience = 'everyone' | 'contacts' | 'nobody'

export interface PersonData {
  user_id: string
  exported_at: number
  presence: OwnPresence
  settings: Settings
  kept: KeptData
  /** Whom they have on their list */
  contacts: string[]
  /** Who has them on theirs */
  contact_of: string[]
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
      /** Who may see anything at all */
      status_visibility: Audience
      /** Who of those may see the last seen too */
      last_seen_visibility: Audience
      /** Only people who show themselves in return */
      reciprocal: boolean
      last_seen_precision: 'exact' | 'approximate'
      /** People who may see everything, whatever the audience */
      allow: string[]
      /** People who may see nothing; wins over everything else. With anybody in it, the public page shows nothing */
      deny: string[]
    }
    rulings: { status: Ruling; last_seen: Ruling }
    sight: 'everything' | 'approximate' | 'status' | 'nothing'
    pending: { status: Status; at: number } | null
    next_deadline_at: number | null
    /** Inactivity after which the person is away */
    away_after_ms: number
    version: number
  }
}

export interface Stats {
  /** Hot users by shown status; null while the store is away */
  users: Record<Status, number> | null
  connections: number
  streams: number
  watches: number
  watched_users: number
  slow_readers: number
  gateways: { gateway_id: string; connections: number; watches: number }[]
  /** Every process of the deployment */
  processes: Process[]
  /** connections_opened, frames_in, changes and so on */
  rates_per_second: Record<string, number>
  /** connections_opened, frames_in, changes and so on */
  totals: Record<string, number>
  /** From a change to its frame */
  propagation_ms: { p50: number | null; p90: number | null; p99: number | null; count: number }
  uptime_ms: number
}

export interface PublicPresence {
  user_id: string
  /** Null only where the server hides people so */
  status: Status | null
  /** The latest instant the user is known to have been active; null if never or hidden */
  last_seen: number | null
  /** Instead of last_seen, for people who show it only approximately */
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

/** What the rest is made of, as it is kept; null for what was never chosen */
export interface KeptData {
  /** What others are shown who may see everything; differs while invisible */
  shown: PublicPresence
  /** Since when the status is the one shown */
  shown_since: number | null
  /** The true one, also while invisible */
  last_seen: number | null
  /** Also those that ended a moment ago and still count */
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
  /** Those that are remembered for two minutes, by their names only */
  ended_sessions: { session_id: string; ended_at: number }[]
  availability: {
    status: 'auto' | 'away' | 'busy' | 'invisible'
    expires_at: number | null
    /** When it was chosen */
    set_at: number
  } | null
  custom_status: {
    text: string | null
    emoji: string | null
    expires_at: number | null
    /** When it was chosen */
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
  propagation_p99_ms: number | null
  archive_backlog: number
  resident_bytes: number
  uptime_ms: number
}
