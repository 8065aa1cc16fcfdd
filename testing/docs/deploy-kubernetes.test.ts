// Holds the manifests of deploy/kubernetes against the program, the image and the fields that Kubernetes knows. A
// misspelt field, which a cluster would drop or refuse, fails here. Where kubectl is installed, it renders them.
import { afterAll, describe, expect, test } from 'bun:test'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  containerOf,
  DEPLOY,
  defaults,
  deployments,
  files,
  generators,
  IMAGE,
  inLast,
  kustomization,
  matches,
  nameOf,
  objects,
  ofKind,
  PROBES,
  run,
  templateOf,
  tool,
  workloads,
} from './deploy-files.ts'
import { at, list, parse, words } from './deploy-yaml.ts'
import { problemsOf } from './kubernetes-schemas.ts'

const folder = fs.mkdtempSync(join(tmpdir(), 'greendot-kubernetes-'))
afterAll(() => fs.rmSync(folder, { recursive: true }))

describe('kubernetes', () => {
  test('[X8] every object has the fields of its kind, and only those', () => {
    expect(objects.flatMap(problemsOf)).toEqual([])
    const [gateway] = deployments
    const broken = JSON.parse(JSON.stringify(gateway))
    broken.spec.template.spec.containers[0].resources.limits.memory = '1 GB'
    broken.spec.template.spec.containers[0].livenesProbe = {}
    delete broken.spec.selector
    expect(problemsOf(broken)).toHaveLength(3)
    expect(problemsOf({ ...broken, kind: 'Deploymnet' })).toEqual(['no schema for apps/v1 Deploymnet'])
  })

  test('[X8] the kustomization lists every file and nothing else', () => {
    const generated = generators.flatMap((one) => words(at(one, 'envs')))
    const listed = [...words(at(kustomization, 'resources')), ...generated, 'README.md', 'kustomization.yaml']
    const inBase = files.filter((path) => path.startsWith('kubernetes/'))
    expect(listed.map((path) => `kubernetes/${path}`).sort()).toEqual(inBase)
    expect(objects.filter((object) => at(object, 'metadata namespace') !== undefined)).toEqual([])
  })

  for (const workload of workloads) {
    test(`[X8, C6] the pods of ${nameOf(workload)} may do nothing but their work`, () => {
      const [user, group] = inLast('USER').join().split(':')
      // With service links the Services beside it become GREENDOT_ variables that are no settings.
      expect(at(templateOf(workload), 'spec')).toMatchObject({
        enableServiceLinks: false,
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, runAsUser: Number(user), runAsGroup: Number(group) },
      })
      expect(containerOf(workload)).toMatchObject({
        image: IMAGE,
        resources: { requests: { memory: expect.any(String) }, limits: { memory: expect.any(String) } },
        securityContext: { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false },
      })
      expect(at(containerOf(workload), 'securityContext capabilities')).toEqual({ drop: ['ALL'] })
      expect(at(templateOf(workload), 'spec securityContext seccompProfile type')).toBe('RuntimeDefault')
      const isJob = at(workload, 'kind') === 'Job'
      const given = list(at(containerOf(workload), 'env'))
      const from = given.map((one) => at(one, 'valueFrom secretKeyRef'))
      const keys = from.map((one) => `${at(one, 'name')} ${at(one, 'key')}`)
      expect(keys).toEqual(given.map((one) => `greendot ${at(one, 'name')}`))
      const needed = from.filter((one) => at(one, 'optional') !== true).map((one) => at(one, 'key'))
      expect(needed).toEqual([...(isJob ? [] : ['GREENDOT_REDIS_URL']), 'GREENDOT_DATABASE_URL'])
      const maps = list(at(containerOf(workload), 'envFrom')).map((one) => at(one, 'configMapRef name'))
      expect(maps).toEqual(isJob ? [] : generators.map((one) => at(one, 'name')))
    })
  }

  test('[X8] ports and probes meet, and selectors find the pods they mean', () => {
    const podsOf = new Map(deployments.map((one) => [nameOf(one), at(templateOf(one), 'metadata labels')]))
    for (const one of deployments) {
      const labels = podsOf.get(nameOf(one))!
      expect(`greendot-${at(labels, 'app.kubernetes.io/component')}`).toBe(nameOf(one))
      expect(at(one, 'spec selector matchLabels')).toEqual(labels)
      expect(at(containerOf(one), 'ports')).toEqual([{ name: 'http', containerPort: defaults.port }])
      for (const probe of PROBES) expect(at(containerOf(one), `${probe} httpGet port`)).toBe('http')
      const spreads = list(at(templateOf(one), 'spec topologySpreadConstraints'))
      expect(spreads.map((spread) => at(spread, 'labelSelector matchLabels'))).toEqual([labels, labels])
    }
    for (const one of ofKind('Service')) {
      expect(at(one, 'spec selector')).toEqual(podsOf.get(nameOf(one))!)
      expect(at(one, 'spec ports')).toEqual([{ name: 'http', port: defaults.port, targetPort: 'http' }])
    }
    const budgets = ofKind('PodDisruptionBudget')
    expect(new Map(budgets.map((one) => [nameOf(one), at(one, 'spec selector matchLabels')]))).toEqual(podsOf)
    // A number of replicas beside an autoscaler would reset it with every apply.
    const scaled = ofKind('HorizontalPodAutoscaler').map((one) => at(one, 'spec scaleTargetRef name'))
    expect(scaled).toEqual(['greendot-gateway'])
    const fixed = deployments.filter((one) => at(one, 'spec replicas') !== undefined).map(nameOf)
    expect(fixed.sort()).toEqual(['greendot-fanout', 'greendot-presence'])
  })

  const kubectl = tool('kubectl')
  const renders = `[X8] kustomize renders the base, and the overlay of the README${kubectl.note}`
  test.skipIf(kubectl.isMissing)(renders, () => {
    fs.cpSync(join(DEPLOY, 'kubernetes'), join(folder, 'greendot/deploy/kubernetes'), { recursive: true })
    fs.mkdirSync(join(folder, 'mine'))
    const overlay = matches('kubernetes/README.md', /^```yaml\n([\s\S]*?)^```$/gm).join()
    fs.writeFileSync(join(folder, 'mine/kustomization.yaml'), overlay)
    const expected = { 'greendot/deploy/kubernetes': IMAGE, mine: 'registry.example.org/greendot:1' }
    for (const [place, image] of Object.entries(expected)) {
      const { exitCode, out, err } = run([kubectl.path, 'kustomize', place], folder)
      expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' })
      const rendered = list(parse(out))
      expect(rendered.length).toBe(objects.length + generators.length)
      const images = rendered.flatMap((one) => at(containerOf(one), 'image') ?? [])
      expect(images).toEqual(workloads.map(() => image))
    }
  })
})
