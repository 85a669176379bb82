import type { ClusterReport } from '../cluster/cluster.js';
import type { ColdReport } from '../cold/cold.js';
import type { CompareReport } from '../compare/compare.js';
import type { CostReport } from '../cost/cost.js';
import type { LoadReport } from '../load/load.js';
import type { MemoryReport } from '../memory/memory.js';
import type { MicroReport } from '../micro/micro.js';
import type { OverloadReport } from '../overload/overload.js';
import type { RecoveryReport } from '../recovery/recovery.js';
import type { ScaleReport } from '../scale/scale.js';
import type { SoakReport } from '../soak/soak.js';
import type { Environment } from '../support/environment.js';

/** Raw results, which `--json` writes and the report reads. */
export interface Results {
  readonly environment: Environment;
  readonly load?: LoadReport;
  /** Results of open loops, by offered rate. */
  readonly openLoad?: LoadReport;
  readonly overload?: OverloadReport;
  readonly scale?: ScaleReport;
  readonly recovery?: RecoveryReport;
  readonly cold?: ColdReport;
  readonly peers?: LoadReport;
  readonly cost?: CostReport;
  readonly memory?: MemoryReport;
  readonly soak?: SoakReport;
  readonly micro?: MicroReport;
  readonly compare?: CompareReport;
  readonly cluster?: ClusterReport;
}
