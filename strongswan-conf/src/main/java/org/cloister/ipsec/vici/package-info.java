/** The protocol of strongSwan's vici plugin: packets, messages, and a client that keeps one connection to charon. */
@NullMarked
package org.cloister.ipsec.vici;

import org.jspecify.annotations.NullMarked;
