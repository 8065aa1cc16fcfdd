// The fields of the Kubernetes objects in deploy/, as JSON Schemas: those that the manifests use, with the types that
// the API has for them. A field that is not listed is a misspelling, or has to be added here.
import Ajv from 'ajv'
import { at, type Yaml } from './deploy-yaml.ts'

type Schema = Record<string, unknown>

const text: Schema = { type: 'string', minLength: 1 }
const flag: Schema = { type: 'boolean' }
const count: Schema = { type: 'integer', minimum: 0 }
const quantity: Schema = { type: 'string', pattern: '^[0-9]+(\\.[0-9]+)?(m|k|M|G|Ki|Mi|Gi)?$' }
/** Names of objects and ports: a label of DNS. */
const label: Schema = { type: 'string', pattern: '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$' }
const portName: Schema = { type: 'string', pattern: '^[a-z0-9]([-a-z0-9]{0,13}[a-z0-9])?$' }
const port: Schema = { type: 'integer', minimum: 1, maximum: 65_535 }
const texts: Schema = { type: 'object', additionalProperties: { type: 'string' } }

const listOf = (items: Schema): Schema => ({ type: 'array', items, minItems: 1 })
const oneOf = (...values: string[]): Schema => ({ enum: values })

/** An object with these fields and no others. */
function fields(required: Record<string, Schema>, optional: Record<string, Schema> = {}): Schema {
  return {
    type: 'object',
    properties: { ...required, ...optional },
    required: Object.keys(required),
    additionalProperties: false,
  }
}

const labels = fields({ 'app.kubernetes.io/name': label, 'app.kubernetes.io/component': label })
const selector = fields({ matchLabels: labels })
const metadata = fields({ name: label, labels })
const rolling = fields({ maxSurge: count, maxUnavailable: count })

const probe = fields(
  { httpGet: fields({ path: text, port: portName }), periodSeconds: count, failureThreshold: count },
  { timeoutSeconds: count },
)
const secretKey = fields({ name: label, key: text }, { optional: flag })
const variable = fields({
  name: { type: 'string', pattern: '^[A-Z][A-Z0-9_]*$' },
  valueFrom: fields({ secretKeyRef: secretKey }),
})
const container = fields(
  {
    name: label,
    image: text,
    args: listOf(text),
    env: listOf(variable),
    resources: fields({
      requests: fields({ cpu: quantity, memory: quantity }),
      limits: fields({ memory: quantity }, { cpu: quantity }),
    }),
    securityContext: fields({
      allowPrivilegeEscalation: flag,
      readOnlyRootFilesystem: flag,
      capabilities: fields({ drop: listOf(text) }),
    }),
  },
  {
    envFrom: listOf(fields({ configMapRef: fields({ name: label }) })),
    ports: listOf(fields({ name: portName, containerPort: port })),
    startupProbe: probe,
    livenessProbe: probe,
    readinessProbe: probe,
    lifecycle: fields({ preStop: fields({ sleep: fields({ seconds: count }) }) }),
  },
)
const spread = fields({
  topologyKey: text,
  maxSkew: count,
  whenUnsatisfiable: oneOf('ScheduleAnyway', 'DoNotSchedule'),
  labelSelector: selector,
  matchLabelKeys: listOf(text),
})
const pod = fields(
  {
    automountServiceAccountToken: flag,
    enableServiceLinks: flag,
    securityContext: fields({
      runAsNonRoot: flag,
      runAsUser: count,
      runAsGroup: count,
      seccompProfile: fields({ type: oneOf('RuntimeDefault') }),
    }),
    containers: listOf(container),
  },
  {
    restartPolicy: oneOf('Always', 'OnFailure', 'Never'),
    terminationGracePeriodSeconds: count,
    topologySpreadConstraints: listOf(spread),
  },
)
const template = fields({ metadata: fields({ labels }, { annotations: texts }), spec: pod })

const resourceMetric = fields({
  type: oneOf('Resource'),
  resource: fields({
    name: oneOf('cpu', 'memory'),
    target: fields({ type: oneOf('Utilization'), averageUtilization: count }),
  }),
})
const scaleDown = fields({
  stabilizationWindowSeconds: count,
  policies: listOf(fields({ type: oneOf('Pods', 'Percent'), value: count, periodSeconds: count })),
})

/** The `spec` by API version and kind. */
const SPECS: Record<string, Schema> = {
  'apps/v1 Deployment': fields(
    {
      selector,
      strategy: fields({ type: oneOf('RollingUpdate'), rollingUpdate: rolling }),
      template,
    },
    { replicas: count, minReadySeconds: count },
  ),
  'batch/v1 Job': fields({
    backoffLimit: count,
    activeDeadlineSeconds: count,
    ttlSecondsAfterFinished: count,
    template,
  }),
  'v1 Service': fields({
    selector: labels,
    ports: listOf(fields({ name: portName, port, targetPort: portName })),
  }),
  'policy/v1 PodDisruptionBudget': fields({ maxUnavailable: count, selector }),
  'autoscaling/v2 HorizontalPodAutoscaler': fields({
    scaleTargetRef: fields({ apiVersion: text, kind: text, name: label }),
    minReplicas: count,
    maxReplicas: count,
    metrics: listOf(resourceMetric),
    behavior: fields({ scaleDown }),
  }),
}

const ajv = new Ajv({ allErrors: true })

/** What is wrong with an object, as sentences. */
export function problemsOf(object: Yaml): string[] {
  const kind = `${at(object, 'apiVersion')} ${at(object, 'kind')}`
  const spec = SPECS[kind]
  if (spec === undefined) return [`no schema for ${kind}`]
  const validate = ajv.compile(fields({ apiVersion: text, kind: text, metadata, spec }))
  if (validate(object)) return []
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${kind} ${instancePath} ${message} ${JSON.stringify(params)}`,
  )
}
