/** A controlling VM towards its opener: what it shows, what it is brought, and whether it takes that. */
@NullMarked
package org.cloister.vm.controller.unlock;

import org.jspecify.annotations.NullMarked;
