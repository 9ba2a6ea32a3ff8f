# SPDX-License-Identifier: Apache-2.0
# Gives the folder of folder_begin.py its name.
os.rename(W, O)
