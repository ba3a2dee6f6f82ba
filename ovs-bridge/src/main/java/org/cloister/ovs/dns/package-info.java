/** Names and addresses of services that a gateway permits. */
@NullMarked
package org.cloister.ovs.dns;

import org.jspecify.annotations.NullMarked;
