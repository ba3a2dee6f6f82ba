/** The host's parts of receipts, and its record of how scratch disks were erased: kept until a relay has them. */
@NullMarked
package org.cloister.host.receipts;

import org.jspecify.annotations.NullMarked;
