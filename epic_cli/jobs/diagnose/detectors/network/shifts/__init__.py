"""Lasting changes of the delay at one moment, and the causes of it.

The sender's clock was set; or there is another route, another access point, a VPN.
"""
