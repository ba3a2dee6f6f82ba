/** The unlock server, the unlock's verification and the project documents. */
@NullMarked
package org.cloister.vm.controller.unlock;

import org.jspecify.annotations.NullMarked;
