/** Requests worker VMs from the relay and stores their tickets. */
@NullMarked
package org.cloister.vm.controller.tickets;

import org.jspecify.annotations.NullMarked;
