/** Workers from the site: tickets to the relay and what becomes of them. */
@NullMarked
package org.cloister.vm.controller.tickets;

import org.jspecify.annotations.NullMarked;
