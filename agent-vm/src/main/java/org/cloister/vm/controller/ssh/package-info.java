/** The SSH gateway, sessions and the export log. */
@NullMarked
package org.cloister.vm.controller.ssh;

import org.jspecify.annotations.NullMarked;
