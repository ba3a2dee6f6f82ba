package org.cloister.ipsec.vici;

/** A named element of a section. */
public sealed interface ViciElement permits ViciMessage, ViciMessage.Value, ViciMessage.Items {}
