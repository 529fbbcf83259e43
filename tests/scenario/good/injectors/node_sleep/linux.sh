#!/bin/sh
# Stands for the script; nothing runs it.
