@NullMarked
package org.cloister.vm.receipt;

import org.jspecify.annotations.NullMarked;
