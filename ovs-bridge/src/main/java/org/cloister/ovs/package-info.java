/** Port plans, the flow pipeline and the bridge reconciler. */
@NullMarked
package org.cloister.ovs;

import org.jspecify.annotations.NullMarked;
