/** Drives on shared storage and their leases. */
@NullMarked
package org.cloister.host.drive;

import org.jspecify.annotations.NullMarked;
