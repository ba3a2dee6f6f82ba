@NullMarked
package org.cloister.host.receipt;

import org.jspecify.annotations.NullMarked;
