import { ConfigError } from '../config/config-error.js';
import type { TraceParent } from '../telemetry/trace-parent.js';

export type Sampler = (parent: TraceParent | undefined) => boolean;

const RATIO_DIGITS = 8;
const RATIO_RANGE = 16 ** RATIO_DIGITS;

/**
 * What OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG say, decided before anything of a span is made. Of one trace all services
 * with the same ratio choose the same. Throws a `ConfigError`.
 */
export function samplerOf(env: NodeJS.ProcessEnv): Sampler {
  const name = env.OTEL_TRACES_SAMPLER || 'parentbased_always_on';
  const always: Sampler = () => true;
  const never: Sampler = () => false;
  switch (name) {
    case 'always_on':
      return always;
    case 'always_off':
      return never;
    case 'traceidratio':
      return ratioSampler(env);
    case 'parentbased_always_on':
      return asParent(always);
    case 'parentbased_always_off':
      return asParent(never);
    case 'parentbased_traceidratio':
      return asParent(ratioSampler(env));
    default:
      throw new ConfigError(
        `OTEL_TRACES_SAMPLER cannot be ${name}: walletd knows always_on, traceidratio and the like`,
      );
  }
}

function ratioSampler(env: NodeJS.ProcessEnv): Sampler {
  const ratio = Number(env.OTEL_TRACES_SAMPLER_ARG || 1);
  if (!(ratio >= 0 && ratio <= 1)) throw new ConfigError('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1');
  return (parent) => {
    if (parent === undefined) return Math.random() < ratio;
    return Number.parseInt(parent.traceId.slice(-RATIO_DIGITS), 16) < ratio * RATIO_RANGE;
  };
}

function asParent(ofRoots: Sampler): Sampler {
  return (parent) => parent?.isSampled ?? ofRoots(parent);
}
