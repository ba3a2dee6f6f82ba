package org.cloister.ipsec.vici;

/** What can have a name in a section. */
public sealed interface ViciElement permits ViciMessage, ViciMessage.Value, ViciMessage.Items {}
