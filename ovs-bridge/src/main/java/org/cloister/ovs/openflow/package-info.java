/** As much of OpenFlow 1.4 as a switch of ours needs: flows in atomic bundles, meters, ports, and reading them back. */
@NullMarked
package org.cloister.ovs.openflow;

import org.jspecify.annotations.NullMarked;
