/** What both protocols of Open vSwitch have in common here: a local socket, when to try again, and typed errors. */
@NullMarked
package org.cloister.ovs.io;

import org.jspecify.annotations.NullMarked;
