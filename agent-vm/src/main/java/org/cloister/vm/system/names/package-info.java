/** Who is who among a job's nodes. */
@NullMarked
package org.cloister.vm.system.names;

import org.jspecify.annotations.NullMarked;
