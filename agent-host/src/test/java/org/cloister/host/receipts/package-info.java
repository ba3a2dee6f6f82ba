@NullMarked
package org.cloister.host.receipts;

import org.jspecify.annotations.NullMarked;
