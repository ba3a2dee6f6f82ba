/** A worker's network access, storage export and certificate. */
@NullMarked
package org.cloister.vm.controller.provision;

import org.jspecify.annotations.NullMarked;
