package org.cloister.ipsec.vici;

/** What can have a name in a section. */
public sealed interface Element permits Message, Message.Value, Message.Items {}
