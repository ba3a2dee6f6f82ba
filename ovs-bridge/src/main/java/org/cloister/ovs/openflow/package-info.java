/** The OpenFlow 1.4 client. */
@NullMarked
package org.cloister.ovs.openflow;

import org.jspecify.annotations.NullMarked;
