/** Histories of VMs and host statements for receipts. */
@NullMarked
package org.cloister.host.receipts;

import org.jspecify.annotations.NullMarked;
